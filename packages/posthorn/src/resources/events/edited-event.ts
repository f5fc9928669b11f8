// Sends a copy of an event with edited data to one endpoint. It is an event of its own with its own id, so that receivers do
// not take it for the original, and refers to it: in the API, and in a header.
import { formatId, parseId } from "@posthorn/wire";
import { type Catalogue, refusal } from "../../catalogue/catalogue.ts";
import { redactedPathsOf } from "../../catalogue/redact.ts";
import { refuseUnknown } from "../../did-you-mean.ts";
import { PosthornError } from "../../errors.ts";
import { validate } from "../../event/validate.ts";
import { deliveryIdOf } from "../../fan-out/delivery-id.ts";
import { SYSTEM_TYPE_PREFIX } from "../../fan-out/matches.ts";
import type { Event, Uuid } from "../../model.ts";
import type { Database } from "../../storage/database.ts";
import { findEvent } from "../../storage/queries/events/list.ts";
import { rejectionsOf } from "../../storage/queries/events/rejected.ts";
import { enqueueForOne } from "../../storage/queries/queue/requeue.ts";
import { pausedError } from "../deliveries/delivery-changes.ts";
import { rejectedError } from "../deliveries/resend-event.ts";
import { knownEndpoint, refuseSubscription } from "../endpoints/changes.ts";
import { notFound } from "../page.ts";
import type { EventScope } from "./events.ts";

export interface EditedEventInput {
  /** An endpoint of the event's tenant. */
  readonly endpoint: string;
  /** The edited data, any JSON value. */
  readonly data?: unknown;
  /** The bytes of the JSON, kept as they are, instead of `data`. */
  readonly rawData?: Uint8Array | undefined;
}

export type ResendEdited = (
  id: string,
  input: EditedEventInput,
  scope?: EventScope,
) => Promise<{ readonly tenant: string; readonly eventId: string; readonly deliveryId: string }>;

export interface ResendEditedOptions {
  readonly db: Database;
  readonly nowMs: () => number;
  readonly catalogue: Pick<Catalogue, "problemsAsRegistered" | "refresh" | "redactedPaths">;
  /** Called after the commit, to notify the lane's owner. */
  readonly onQueued: (endpointId: Uuid, owner: number | null) => void;
}

export function createResendEdited({ db, nowMs, catalogue, onQueued }: ResendEditedOptions): ResendEdited {
  return async (id, input, scope = {}) => {
    refuseUnknown("An edited event has no field", input, ["endpoint", "data", "rawData"], "invalid_event");
    const original = await findOriginal(id, scope);
    const { tenant } = original;
    refuseSubscription(
      await knownEndpoint(db, tenant, input.endpoint),
      "which only receives events of its topic. Publish to the topic instead.",
    );
    const event = editedCopy(original, input, nowMs());
    const [problem] = await catalogue.problemsAsRegistered([event]);
    if (problem) throw refusal(problem);
    const endpointId = parseId("ep", input.endpoint) as Uuid;
    const delivery = { id: deliveryIdOf(event.id, endpointId), endpointId, trigger: "edited" } as const;
    const result = await enqueueForOne(db, event, delivery);
    if (result.kind === "paused") throw pausedError(result.because, "send the edited event");
    onQueued(endpointId, result.owner);
    return { tenant, eventId: formatId("evt", event.id), deliveryId: formatId("dlv", delivery.id) };
  };

  async function findOriginal(id: string, scope: EventScope): Promise<Event> {
    refuseUnknown("There is no scope", scope, ["tenant", "redacted"], "invalid_query");
    const uuid = parseId("evt", String(id));
    const event = uuid === null ? null : await findEvent(db, uuid, scope.tenant ?? null);
    if (event === null) throw notFound("event", "evt", id);
    if (event.type.startsWith(SYSTEM_TYPE_PREFIX)) throw systemTypeError(event.type);
    if ((await rejectionsOf(db, [event.id])).length > 0) throw rejectedError(id);
    if (scope.redacted === true && (await isRedacted(event))) throw redactedError(id);
    return event;
  }

  /** Then the editor would send masks in place of values. */
  async function isRedacted(event: Event): Promise<boolean> {
    await catalogue.refresh();
    const paths = redactedPathsOf(event, (type, version) => catalogue.redactedPaths(type, version));
    return paths.length > 0;
  }
}

/** Everything but the data is that of the original, except what identifies it: its id, sequence and CloudEvents id. */
function editedCopy(original: Event, { data, rawData }: EditedEventInput, atMs: number): Event {
  const { tenant, type, subject, apiVersion, attributes } = original;
  const { id: _, ...kept } = attributes ?? {};
  const { event } = validate(
    {
      ...{ tenant, type, apiVersion, subject: subject ?? undefined },
      ...(rawData === undefined ? { data } : { rawData }),
      ...(Object.keys(kept).length > 0 && { attributes: kept }),
    },
    atMs,
  );
  return { ...event, editedFrom: original.id };
}

function redactedError(id: string): PosthornError {
  return new PosthornError(
    "event_redacted",
    `The catalogue redacts parts of ${id}, and the copy would contain masks. Edit it with the scope payloads:read.`,
  );
}

function systemTypeError(type: string): PosthornError {
  return new PosthornError(
    "invalid_event",
    `An event of the type ${type} is Posthorn's own and cannot be edited. To test the receiver, send a test event.`,
  );
}
