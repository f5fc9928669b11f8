// The content of somebody else's topic as an event: its bytes and its content type are kept, however they look.
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { type EventAttributes, uuidv7 } from "@posthorn/wire";
import type { ValidEvent } from "../../event/validate.ts";
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
  const { encoding, payload } = encoded(content.body);
  const attributes: EventAttributes = {
    source: topic.url,
    datacontenttype: content.contentType,
    encoding,
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

/** Never parsed: strangers say what it is, and a megabyte of brackets takes the parser half a second. */
function encoded(body: Buffer): { readonly encoding: "text" | "base64"; readonly payload: Buffer } {
  const encoding = isUtf8(body) ? "text" : "base64";
  const text = encoding === "text" ? body.toString() : body.toString("base64");
  return { encoding, payload: Buffer.from(JSON.stringify(text)) };
}
