// Decides what becomes of a row or message: an event, an event that is stored as rejected, or an error that holds the source.
import { formatId } from "@posthorn/wire";
import { type ErrorCode, PosthornError } from "../errors.ts";
import type { PublishInput, ValidEvent } from "../event/validate.ts";
import type { Rejection } from "../model.ts";
import type { Admission } from "../publish/admission.ts";
import type { SourceEvent } from "../storage/queries/sources/publish.ts";
import type { SourceItem } from "./reader.ts";

export interface AdmittedItem {
  readonly event: SourceEvent;
  readonly rejection: Rejection | null;
}

/** No other publisher can use a key with a control character, so the keys of rows are never those of other events. */
const SOURCE_KEY_PREFIX = "\u0001";
/** In place of data that is too large to be stored. */
const NO_DATA = Buffer.from("null");

/** Returns the error if the row cannot be an event, not even a rejected one. */
export async function admitItem(
  admission: Pick<Admission, "admit" | "admitUnchecked">,
  { input, tooLarge }: Pick<SourceItem, "tooLarge"> & { readonly input: PublishInput | PosthornError },
): Promise<AdmittedItem | PosthornError> {
  if (input instanceof PosthornError) return input;
  try {
    if (tooLarge !== undefined) throw tooLarge;
    return { event: toSourceEvent(await admission.admit(input)), rejection: null };
  } catch (error) {
    if (error instanceof PosthornError) return rejectedOr(error, input, admission);
    throw error;
  }
}

/** Returns the event with the reason for its rejection, or the error if it is invalid whatever the catalogue says. */
function rejectedOr(
  error: PosthornError,
  input: PublishInput,
  admission: Pick<Admission, "admitUnchecked">,
): AdmittedItem | PosthornError {
  const { code, message, problems } = error;
  if (!isRejection(code)) return error;
  try {
    const valid = admission.admitUnchecked(
      code === "payload_too_large" ? { ...input, rawData: NO_DATA } : input,
    );
    const pointer = problems[0]?.pointer ?? "";
    return { event: toSourceEvent(valid), rejection: { eventId: valid.event.id, code, pointer, message } };
  } catch (invalid) {
    if (invalid instanceof PosthornError) return invalid;
    throw invalid;
  }
}

function isRejection(code: ErrorCode): code is Rejection["code"] {
  return code === "invalid_event" || code === "event_too_complex" || code === "payload_too_large";
}

function toSourceEvent({ event, idempotency }: ValidEvent): SourceEvent {
  return {
    id: formatId("evt", event.id),
    tenant: event.tenant,
    type: event.type,
    data: Buffer.from(event.payload).toString("utf8"),
    subject: event.subject,
    apiVersion: event.apiVersion,
    // every input of a source has one
    key: `${SOURCE_KEY_PREFIX}${idempotency?.key ?? ""}`,
  };
}
