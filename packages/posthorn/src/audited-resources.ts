// The changes that applications make through the library, and how they are recorded in the audit log: as the same operations
// of the API. Our own server uses the resources without this and records its requests, which have a caller.
import type { LibraryResources } from "./library-resources.ts";
import type { RecordChange } from "./resources/access/record-change.ts";
import { toApiNames } from "./resources/access/redact-changes.ts";

/** An operation, and what its arguments are: ids in the path of the API, or fields of the body. */
type Recorded = readonly [action: string, ...args: readonly (string | Fields)[]];

/** Turns an argument into fields of the body. */
type Fields = (argument: unknown) => unknown;

const body: Fields = (argument) => argument;
const field =
  (name: string): Fields =>
  (argument) => ({ [name]: argument });

/** The edited data may be large; the new event keeps it. */
const withoutData: Fields = (argument) => ({
  endpoint: (argument as { endpoint?: unknown } | null)?.endpoint,
});

/** The methods that change something, by resource. */
export const RECORDED: Readonly<Record<string, Readonly<Record<string, Recorded>>>> = {
  tenants: {
    upsert: ["tenants.put", "tenant", body],
    delete: ["tenants.delete", "tenant"],
  },
  members: {
    put: ["members.put", "tenant", "user", body],
    update: ["members.put", "tenant", "user", body],
    delete: ["members.delete", "tenant", "user"],
  },
  keys: {
    create: ["keys.create", body],
    createToken: ["members.createToken", "tenant", "user", body],
    revoke: ["keys.revoke", "key", body],
  },
  sessions: {
    createPortalLink: ["portalLinks.create", "tenant", body],
    revokePortalLink: ["portalLinks.revoke", "tenant", "link"],
  },
  endpoints: {
    create: ["endpoints.create", "tenant", body],
    update: ["endpoints.update", "tenant", "endpoint", body],
    delete: ["endpoints.delete", "tenant", "endpoint"],
    import: ["endpoints.import", "tenant", body],
    disable: ["endpoints.disable", "tenant", "endpoint"],
    enable: ["endpoints.enable", "tenant", "endpoint", body],
    test: ["endpoints.test", "tenant", "endpoint", body],
    rotateSecret: ["endpoints.rotateSecret", "tenant", "endpoint", body],
    revokeSecret: ["endpoints.revokeSecret", "tenant", "endpoint", "secret"],
  },
  eventTypes: {
    put: ["eventTypes.put", "name", body],
    delete: ["eventTypes.delete", "name", body],
    import: ["eventTypes.import", field("document"), body],
  },
  events: {
    resend: ["events.resend", "event", field("endpoint"), body],
    resendEdited: ["events.resendEdited", "event", withoutData],
    release: ["events.release", "event", body],
    discard: ["events.discard", "event", body],
    releaseRejected: ["events.releaseRejected", body],
    discardRejected: ["events.discardRejected", body],
  },
  deliveries: {
    retry: ["deliveries.retry", "delivery", body],
    cancel: ["deliveries.cancel", "delivery", body],
    delete: ["deliveries.delete", "delivery", body],
    deleteDead: ["deliveries.deleteDead", body],
  },
  deliveryMode: {
    set: ["deliveryMode.set", body],
  },
  replays: {
    start: ["replays.start", body],
    cancel: ["replays.cancel", "replay", body],
  },
  sources: {
    skip: ["sources.skip", "source"],
    reset: ["sources.reset", "source"],
    delete: ["sources.delete", "source"],
  },
};

/** Returns the resources with their changes recorded as those of `actor`. */
export function audited(
  resources: LibraryResources,
  record: RecordChange,
  actor: string | null,
): LibraryResources {
  const recorded = Object.entries(RECORDED).map(([name, methods]) => {
    const resource = resources[name as keyof LibraryResources] as unknown as Readonly<Record<string, Method>>;
    const own = Object.entries(methods).map(([method, operation]) => [
      method,
      recordedMethod(resource[method] as Method, operation, record, actor),
    ]);
    return [name, { ...resource, ...Object.fromEntries(own) }];
  });
  return { ...resources, ...Object.fromEntries(recorded) };
}

type Method = (...args: unknown[]) => Promise<unknown>;

function recordedMethod(
  method: Method,
  [action, ...parts]: Recorded,
  record: RecordChange,
  actor: string | null,
): Method {
  return (...args) => {
    const target: Record<string, string> = {};
    const changes: Record<string, unknown> = {};
    for (const [index, part] of parts.entries()) {
      const argument = args[index];
      if (typeof part === "string") target[part] = String(argument);
      else Object.assign(changes, toApiNames(part(argument)));
    }
    const change = {
      actor: {
        actorKind: "library",
        actorId: actor,
        actorUser: null,
        actorTenant: null,
        requestId: null,
        address: null,
      },
      action,
      tenant: target.tenant ?? changes.tenant,
      target,
      changes: Object.keys(changes).length === 0 ? undefined : changes,
    } as const;
    return record(change, () => method(...args));
  };
}
