// The content of somebody else's topic as an event: its bytes and its content type are kept, however they look.
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { type EventAttributes, isJsonType, uuidv7 } from "@posthorn/wire";
import { jsonDepth } from "../event/json-depth.ts";
import { maxDepth } from "../event/limits.ts";
import type { ValidEvent } from "../event/validate.ts";
import type { ExternalTopic } from "./topics.ts";

export interface TopicContent {
  /** As the publisher wrote it. */
  readonly contentType: string;
  readonly body: Buffer;
}

/** `revision` makes it known: published twice, because a process died in between, it is one event. */
export function contentEvent(
  topic: ExternalTopic,
  content: TopicContent,
  { revision, nowMs }: { readonly revision: number; readonly nowMs: number },
): ValidEvent {
  const { encoding, payload } = encoded(content);
  const attributes: EventAttributes = {
    source: topic.url,
    datacontenttype: content.contentType,
    ...(encoding !== null && { encoding }),
  };
  return {
    event: {
      id: uuidv7(nowMs),
      tenant: topic.tenant,
      type: topic.type,
      apiVersion: "1",
      subject: null,
      sequence: null,
      payload,
      createdAt: new Date(nowMs),
      attributes,
    },
    idempotency: { key: `${topic.hash}:${revision}`, digest: digestOf(content) },
  };
}

export function digestOf({ contentType, body }: TopicContent): Buffer {
  return createHash("sha256").update(`${contentType}\n`).update(body).digest();
}

const MAX_HEADER_BYTES = 1_024;

/** What is sent back, or on, must be a header. */
export function headerText(value: string | undefined): string | null {
  if (value === undefined || value === "" || value.length > MAX_HEADER_BYTES) return null;
  return /^[\x20-\x7e]+$/.test(value) ? value : null;
}

/** JSON as it is, other text as text, everything else in base64. */
function encoded({ contentType, body }: TopicContent): {
  readonly encoding: "text" | "base64" | null;
  readonly payload: Buffer;
} {
  if (!isUtf8(body))
    return { encoding: "base64", payload: Buffer.from(JSON.stringify(body.toString("base64"))) };
  const text = body.toString();
  if (isJsonType(contentType) && isJson(text, body)) return { encoding: null, payload: body };
  return { encoding: "text", payload: Buffer.from(JSON.stringify(text)) };
}

function isJson(text: string, body: Buffer): boolean {
  try {
    JSON.parse(text);
    return jsonDepth(body) <= maxDepth;
  } catch {
    return false;
  }
}
