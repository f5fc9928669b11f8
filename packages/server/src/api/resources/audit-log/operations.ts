import { operationsOf, type PosthornContract } from "@posthorn/client";
import { didYouMean } from "@posthorn/wire";
import { type Posthorn, PosthornError } from "posthorn";
import { type Handlers, LargeResponse } from "../../implement.ts";
import type { Principal } from "../../principal.ts";

type Entry = Awaited<ReturnType<Posthorn["auditLog"]["list"]>>["data"][number];

export function auditLogOperations({ auditLog }: Posthorn): Handlers<PosthornContract>["auditLog"] {
  return {
    list: new LargeResponse(async ({ query, principal }) => {
      if (query.action !== undefined) checkAction(query.action);
      const page = await auditLog.list(query);
      return { ...page, data: page.data.map((entry) => withActor(entry, principal)) };
    }),
  };
}

/** Groups the actor's fields. A tenant sees a key of the whole installation only as "operator", without its address. */
export function withActor(
  { actorKind, actorId, actorUser, actorTenant, ...entry }: Entry,
  { tenant }: Principal,
) {
  const isOperator = actorKind !== "member" && actorKind !== "system" && actorTenant === null;
  if (tenant === null || !isOperator)
    return { ...entry, actor: { kind: actorKind, id: actorId, user: actorUser } };
  return { ...entry, actor: { kind: "operator" as const, id: null, user: null }, address: null };
}

/** Rejects an unknown action: an empty list would suggest that it was never done. */
export function checkAction(action: string): void {
  if (LOGGED.includes(action)) return;
  const message = `${JSON.stringify(action)} is not an operation that is logged. ${didYouMean(action, LOGGED)}`;
  throw new PosthornError("invalid_query", message, { problems: [{ pointer: "/action", message }] });
}

/** The operations that `implement` audits: changes except publishing, and reads that need a privilege. */
const LOGGED: readonly string[] = operationsOf()
  .filter(([id, { method, isReadOnly, privilege }]) => {
    const isChange = method !== "GET" && isReadOnly !== true;
    return (isChange && id !== "events.publish") || privilege !== undefined;
  })
  .map(([id]) => id);
