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
  return mediaTypeOf(contentType).startsWith("text/") && isUtf8(charsetOf(contentType));
}

/** Why text of this content type cannot be sent as bytes, which binary mode does, or null. */
export function textProblem(text: string, contentType: string | undefined): string | null {
  const charset = charsetOf(contentType ?? null);
  const isSameBytes = isUtf8(charset) || (ASCII_WITHIN.test(charset) && !/\P{ASCII}/u.test(text));
  if (!isSameBytes) return `Text in the charset ${charset.slice(0, 60)} is bytes: give them in base64.`;
  return /\p{Surrogate}/u.test(text) ? "The text has half a character in it." : null;
}

/** In lower case; UTF-8 by default. */
function charsetOf(contentType: string | null): string {
  return /; *charset="?([^\s";]+)/i.exec(contentType ?? "")?.[1]?.toLowerCase() ?? "utf-8";
}

/** Charsets in which ASCII has the bytes that it has in UTF-8. */
const ASCII_WITHIN = /^(?:iso-8859-\d+|windows-125\d)$/;

function isUtf8(charset: string): boolean {
  return charset === "utf-8" || charset === "utf8" || charset === "us-ascii";
}
