// Puts every operation that changes something into the audit log: an entry before it is tried, completed by what came
// of it. When the entry cannot be written, nothing is tried.
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
        logger?.warn("an audit entry stays without its end", { entry: id, action, error: message });
      });
    try {
      const answer = await change();
      await complete({ status: 200, errorCode: null, ...namesIn(answer, exchange.params) });
      return answer;
    } catch (error) {
      const { status, code } = problemOf(error);
      await complete({ status, errorCode: code, tenant: null, made: null });
      throw error;
    }
  };
}

type Outcome = Parameters<Posthorn["auditLog"]["complete"]>[1];
type Entry = Parameters<Posthorn["auditLog"]["begin"]>[0];

function entryOf({ request, params, principal, requestId }: Exchange, action: string, body: unknown): Entry {
  if (principal.kind === "anonymous")
    throw new Error(`Nobody in particular may not change anything: ${action}.`);
  const named = (body as { tenant?: unknown } | undefined)?.tenant;
  const asked = params.tenant ?? principal.tenant ?? named;
  return {
    actorKind: principal.kind,
    actorId: principal.id,
    actorUser: principal.user,
    actorTenant: principal.tenant,
    // what cannot be a tenant's id is nobody's, and may be too long to be looked for
    tenant: isTenantId(asked) ? asked : null,
    action,
    target: targetOf(params),
    changes: withoutSecrets(withoutData(body)),
    requestId,
    address: request.socket.remoteAddress ?? null,
  };
}

/** Of a test event: the event is its own record, and shows its data to those who may see it. */
function withoutData(body: unknown): unknown {
  return typeof body === "object" && body !== null && "data" in body ? { ...body, data: HIDDEN } : body;
}

function targetOf(params: Params): Readonly<Record<string, string>> {
  const shown = Object.entries(params).map(([name, value]) => [
    name,
    name === "key" ? shownKey(value) : withoutSecrets(value),
  ]);
  return Object.fromEntries(shown);
}

/** Its id; of a key that was given in full by mistake, what may be shown of it. */
function shownKey(given: string): string {
  const [, id, kind, idOfText] = /^(?:([0-9A-Za-z]{10})|(ph[kt])_([0-9A-Za-z]{10})_.*)$/.exec(given) ?? [];
  if (id !== undefined) return id;
  return kind === undefined ? HIDDEN : `${kind}_${idOfText}_${HIDDEN}`;
}

/** Whose it is, where the path names no tenant. What is not there is nobody's. */
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

/** What is named in the path was there, or is called so by the caller. */
function namesIn(answer: unknown, params: Params): Pick<Outcome, "tenant" | "made"> {
  const { id, tenant } = (answer ?? {}) as { id?: unknown; tenant?: unknown };
  return {
    made: typeof id === "string" && !Object.values(params).includes(id) ? id : null,
    tenant: typeof tenant === "string" ? tenant : null,
  };
}

const HIDDEN = "…";
const SECRET_FIELDS = new Set(["secret", "key", "password", "token"]);
/** Whose members all are hidden, by whatever name. */
const HIDDEN_WITHIN = new Set(["headers", "scheme_secrets"]);
const LONGEST_TEXT = 1_000;
const MOST_ITEMS = 100;
/** Deeper than any body that is taken; one that is not may have a hundred thousand levels. */
const MOST_LEVELS = 80;
/** Of an entry's JSON: 250 of them are the largest page there is. */
const MOST_BYTES = 16 * 1024;

/** What of an entry may still be written. */
interface Room {
  bytes: number;
}

/** Secrets, the values of headers, and what a URL carries besides the place it leads to are not for the log. */
export function withoutSecrets(
  value: unknown,
  field = "",
  level = 0,
  room: Room = { bytes: MOST_BYTES },
): unknown {
  if (level > MOST_LEVELS) return HIDDEN;
  if (typeof value === "string") return fitted(field === "url" ? withoutCredentials(value) : value, room);
  if (typeof value !== "object" || value === null) {
    room.bytes -= String(value).length;
    return value;
  }
  if (Array.isArray(value))
    return Array.from(fitting(value, room), (item) => withoutSecrets(item, field, level + 1, room));
  const entries = Array.from(fitting(Object.entries(value), room), ([name, inner]) => [
    fitted(name, room),
    SECRET_FIELDS.has(name) || HIDDEN_WITHIN.has(field)
      ? HIDDEN
      : withoutSecrets(inner, name, level + 1, room),
  ]);
  return Object.fromEntries(entries);
}

/** The first of them, as long as there is room. */
function* fitting<Item>(items: readonly Item[], room: Room): Generator<Item> {
  for (const item of items.slice(0, MOST_ITEMS)) {
    if (room.bytes <= 0) return;
    room.bytes -= 2; // brackets and commas
    yield item;
  }
}

function fitted(text: string, room: Room): string {
  const most = Math.min(LONGEST_TEXT, Math.max(room.bytes, 0));
  // made storable last, for a cut may leave half a pair
  const shown = storable(text.length > most ? `${text.slice(0, most)}${HIDDEN}` : text);
  room.bytes -= Buffer.byteLength(JSON.stringify(shown));
  return shown;
}

/** PostgreSQL keeps neither NUL nor half a surrogate pair. */
function storable(text: string): string {
  return Buffer.from(text).toString().replaceAll("\0", "\ufffd");
}

function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return HIDDEN;
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol}//${host}${pathname}${search === "" ? "" : `?${HIDDEN}`}`;
}
