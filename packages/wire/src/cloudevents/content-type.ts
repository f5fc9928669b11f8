// Determines a request's mode from its content type (HTTP binding §3), and defines the content types we send.

export const STRUCTURED_MEDIA_TYPE = "application/cloudevents+json";
export const BATCH_MEDIA_TYPE = "application/cloudevents-batch+json";

// Exact bytes: the JavaScript SDK rejects `charset=UTF-8` and a charset without the space before it.
export const STRUCTURED_CONTENT_TYPE = `${STRUCTURED_MEDIA_TYPE}; charset=utf-8`;
export const BATCH_CONTENT_TYPE = `${BATCH_MEDIA_TYPE}; charset=utf-8`;

export type CloudEventsMode = "structured" | "batch" | "binary";

/** Any other content type may be binary mode; the headers decide. */
export function modeOf(contentType: string | null): CloudEventsMode {
  const mediaType = mediaTypeOf(contentType);
  if (mediaType.startsWith("application/cloudevents-batch")) return "batch";
  return mediaType.startsWith("application/cloudevents") ? "structured" : "binary";
}

/** Returns why a CloudEvents content type is not supported (only JSON is), or null. */
export function formatProblem(contentType: string | null): string | null {
  const mediaType = mediaTypeOf(contentType);
  if (modeOf(mediaType) === "binary" || [STRUCTURED_MEDIA_TYPE, BATCH_MEDIA_TYPE].includes(mediaType))
    return null;
  return `The CloudEvents content types ${STRUCTURED_MEDIA_TYPE} and ${BATCH_MEDIA_TYPE} are supported, not ${mediaType.slice(0, 60)}.`;
}

/** In lower case, without parameters; empty if there is none. */
export function mediaTypeOf(contentType: string | null): string {
  if (contentType !== last.contentType) {
    last.contentType = contentType;
    last.mediaType = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  }
  return last.mediaType;
}

/** A request's content type is looked at seven times, and the next one usually has the same. */
const last: { contentType: string | null; mediaType: string } = { contentType: null, mediaType: "" };

// JSON format §3.1: */json and */*+json. Data without a content type is JSON too.
export function isJsonType(contentType: string | null): boolean {
  const mediaType = mediaTypeOf(contentType);
  return mediaType === "" || mediaType.endsWith("/json") || mediaType.endsWith("+json");
}

/** True for UTF-8 text. Other charsets are treated as bytes. */
export function isTextType(contentType: string | null): boolean {
  return mediaTypeOf(contentType).startsWith("text/") && isUtf8(charsetOf(contentType));
}

/** Returns why text of this content type cannot be sent in binary mode, or null. */
export function textProblem(text: string, contentType: string | undefined): string | null {
  const charset = charsetOf(contentType ?? null);
  const isSameBytes = isUtf8(charset) || (ASCII_WITHIN.test(charset) && !/\P{ASCII}/u.test(text));
  if (!isSameBytes)
    return `Text in the charset ${charset.slice(0, 60)} must be given as bytes in data_base64.`;
  return /\p{Surrogate}/u.test(text) ? "The text contains a lone surrogate." : null;
}

/** In lower case; UTF-8 by default. */
function charsetOf(contentType: string | null): string {
  return /; *charset="?([^\s";]+)/i.exec(contentType ?? "")?.[1]?.toLowerCase() ?? "utf-8";
}

/** Charsets that encode ASCII like UTF-8. */
const ASCII_WITHIN = /^(?:iso-8859-\d+|windows-125\d)$/;

function isUtf8(charset: string): boolean {
  return charset === "utf-8" || charset === "utf8" || charset === "us-ascii";
}
