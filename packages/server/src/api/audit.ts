// Records every operation that changes something in the audit log: an entry before it runs, completed with its result.
// If the entry cannot be written, the operation does not run.
import type { Logger, Posthorn } from "posthorn";
import { isTenantId } from "posthorn/internal";
import type { Exchange } from "./exchange.ts";
import { isPosthornError, problemOf } from "./problem.ts";
import type { Params } from "./router.ts";

export type Audit = <Result>(
  exchange: Exchange,
  action: string,
  body: unknown,
  change: () => Promise<Result>,
) => Promise<Result>;

export function createAudit(hooks: Posthorn, logger: Logger | undefined): Audit {
  const { auditLog } = hooks;
  return async (exchange, action, body, change) => {
    const entry = entryOf(exchange, action, body);
    const tenant = entry.tenant ?? (await tenantOf(hooks, exchange.params));
    const id = await auditLog.begin({ ...entry, tenant });
    const complete = (outcome: Outcome): Promise<void> =>
      auditLog.complete(id, outcome).catch((error: unknown) => {
        const { message } = error as Error;
        logger?.warn("could not complete an audit entry", { entry: id, action, error: message });
      });
    try {
      const result = await change();
      await complete({ status: 200, errorCode: null, ...factsOf(result, exchange.params) });
      return result;
    } catch (error) {
      const { status, code } = problemOf(error);
      await complete({ status, errorCode: code, tenant: null, created: null, deleted: null });
      throw error;
    }
  };
}

type Outcome = Parameters<Posthorn["auditLog"]["complete"]>[1];
type Entry = Parameters<Posthorn["auditLog"]["begin"]>[0];

function entryOf({ request, params, principal, requestId }: Exchange, action: string, body: unknown): Entry {
  if (principal.kind === "anonymous")
    throw new Error(`An anonymous caller may not change anything: ${action}.`);
  const named = (body as { tenant?: unknown } | undefined)?.tenant;
  const asked = params.tenant ?? principal.tenant ?? named;
  return {
    actorKind: principal.kind,
    actorId: principal.id,
    actorUser: principal.user,
    actorTenant: principal.tenant,
    // text that cannot be a tenant id may be too long to store
    tenant: isTenantId(asked) ? asked : null,
    action,
    target: targetOf(params),
    changes: withoutSecrets(withoutData(body)),
    requestId,
    address: request.socket.remoteAddress ?? null,
  };
}

/** Leaves out the data of a test event: the event itself keeps it, with redaction. */
function withoutData(body: unknown): unknown {
  return typeof body === "object" && body !== null && "data" in body ? { ...body, data: REDACTED } : body;
}

function targetOf(params: Params): Readonly<Record<string, string>> {
  const shown = Object.entries(params).map(([name, value]) => [
    name,
    name === "key" ? redactKey(value) : withoutSecrets(value),
  ]);
  return Object.fromEntries(shown);
}

/** Returns the key's id. If the caller sent a whole key by mistake, its secret part is redacted. */
function redactKey(given: string): string {
  const [, id, kind, idOfText] = /^(?:([0-9A-Za-z]{10})|(ph[kt])_([0-9A-Za-z]{10})_.*)$/.exec(given) ?? [];
  if (id !== undefined) return id;
  return kind === undefined ? REDACTED : `${kind}_${idOfText}_${REDACTED}`;
}

/** Returns the tenant of the delivery or replay in the path; null if it does not exist. */
async function tenantOf(
  { deliveries, replays }: Posthorn,
  { delivery, replay }: Params,
): Promise<string | null> {
  try {
    if (delivery !== undefined) return (await deliveries.get(delivery)).tenant;
    return replay === undefined ? null : (await replays.get(replay)).tenant;
  } catch (error) {
    if (isPosthornError(error) && error.status === 404) return null;
    throw error;
  }
}

/** Returns the id of what was created, unless the path names it already, its tenant, and how many were deleted. */
function factsOf(result: unknown, params: Params): Pick<Outcome, "tenant" | "created" | "deleted"> {
  const { id, tenant, deleted } = (result ?? {}) as Readonly<Record<string, unknown>>;
  return {
    deleted: typeof deleted === "number" ? deleted : null,
    created: typeof id === "string" && !Object.values(params).includes(id) ? id : null,
    tenant: typeof tenant === "string" ? tenant : null,
  };
}

const REDACTED = "…";
const SECRET_FIELDS = new Set(["secret", "key", "password", "token"]);
/** Fields whose members are all redacted. */
const REDACTED_WITHIN = new Set(["headers", "scheme_secrets"]);
const MAX_TEXT_LENGTH = 1_000;
const MAX_ITEMS = 100;
/** Deeper than any valid body; an invalid one may have a hundred thousand levels. */
const MAX_DEPTH = 80;
/** Bounds the JSON of an entry, because a page has up to 250 of them. */
const MAX_ENTRY_BYTES = 16 * 1024;

interface ByteBudget {
  bytes: number;
}

/** Returns a copy without secrets, header values, and the credentials and query of URLs, cut to the size limits. */
export function withoutSecrets(
  value: unknown,
  field = "",
  level = 0,
  budget: ByteBudget = { bytes: MAX_ENTRY_BYTES },
): unknown {
  if (level > MAX_DEPTH) return REDACTED;
  if (typeof value === "string") return fitted(field === "url" ? withoutCredentials(value) : value, budget);
  if (typeof value !== "object" || value === null) {
    budget.bytes -= String(value).length;
    return value;
  }
  if (Array.isArray(value))
    return Array.from(fitting(value, budget), (item) => withoutSecrets(item, field, level + 1, budget));
  const entries = Array.from(fitting(Object.entries(value), budget), ([name, inner]) => [
    fitted(name, budget),
    SECRET_FIELDS.has(name) || REDACTED_WITHIN.has(field)
      ? REDACTED
      : withoutSecrets(inner, name, level + 1, budget),
  ]);
  return Object.fromEntries(entries);
}

/** Yields items until the byte budget is used up. */
function* fitting<Item>(items: readonly Item[], budget: ByteBudget): Generator<Item> {
  for (const item of items.slice(0, MAX_ITEMS)) {
    if (budget.bytes <= 0) return;
    budget.bytes -= 2; // brackets and commas
    yield item;
  }
}

function fitted(text: string, budget: ByteBudget): string {
  const length = Math.min(MAX_TEXT_LENGTH, Math.max(budget.bytes, 0));
  // last, because cutting may split a surrogate pair
  const shown = storable(text.length > length ? `${text.slice(0, length)}${REDACTED}` : text);
  budget.bytes -= Buffer.byteLength(JSON.stringify(shown));
  return shown;
}

/** PostgreSQL stores neither NUL nor an unpaired surrogate. */
function storable(text: string): string {
  return Buffer.from(text).toString().replaceAll("\0", "\ufffd");
}

function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return REDACTED;
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol}//${host}${pathname}${search === "" ? "" : `?${REDACTED}`}`;
}
