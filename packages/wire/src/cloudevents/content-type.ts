// Which mode a request is in, by its content type alone (HTTP binding §3), and what ours are.

export const STRUCTURED_MEDIA_TYPE = "application/cloudevents+json";
export const BATCH_MEDIA_TYPE = "application/cloudevents-batch+json";

// Byte for byte: the JavaScript SDK refuses `charset=UTF-8`, and a charset without the space before it.
export const STRUCTURED_CONTENT_TYPE = `${STRUCTURED_MEDIA_TYPE}; charset=utf-8`;
export const BATCH_CONTENT_TYPE = `${BATCH_MEDIA_TYPE}; charset=utf-8`;

export type CloudEventsMode = "structured" | "batch" | "binary";

/** What is neither of the two announced modes may be binary; its headers decide. */
export function modeOf(contentType: string | null): CloudEventsMode {
  const mediaType = mediaTypeOf(contentType);
  if (mediaType.startsWith("application/cloudevents-batch")) return "batch";
  return mediaType.startsWith("application/cloudevents") ? "structured" : "binary";
}

/** Why a body that is announced as a CloudEvent cannot be read, or null: there are other formats than JSON. */
export function formatProblem(contentType: string | null): string | null {
  const mediaType = mediaTypeOf(contentType);
  if (modeOf(mediaType) === "binary" || [STRUCTURED_MEDIA_TYPE, BATCH_MEDIA_TYPE].includes(mediaType))
    return null;
  return `Of CloudEvents only ${STRUCTURED_MEDIA_TYPE} and ${BATCH_MEDIA_TYPE} are understood, not ${mediaType.slice(0, 60)}.`;
}

/** In lower case, without parameters; empty when there is none. */
export function mediaTypeOf(contentType: string | null): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

// JSON format §3.1: */json and */*+json. Without a content type data is JSON too.
export function isJsonType(contentType: string | null): boolean {
  const mediaType = mediaTypeOf(contentType);
  return mediaType === "" || mediaType.endsWith("/json") || mediaType.endsWith("+json");
}

/** Text that is UTF-8: any other charset is bytes to us. */
export function isTextType(contentType: string | null): boolean {
  if (!mediaTypeOf(contentType).startsWith("text/")) return false;
  const charset = /; *charset="?([^\s";]+)/i.exec(contentType ?? "")?.[1]?.toLowerCase() ?? "utf-8";
  return charset === "utf-8" || charset === "us-ascii";
}
