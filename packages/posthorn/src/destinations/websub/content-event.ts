// The content of an external topic as an event, which keeps its bytes and content type.
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { uuidv7 } from "@posthorn/wire";
import type { ValidEvent } from "../../event/validate.ts";
import type { ExternalTopic } from "./topics.ts";

export interface TopicContent {
  /** As the publisher sent it. */
  readonly contentType: string;
  readonly body: Buffer;
}

/** `revision` is the idempotency key: published twice after a crash, it is one event. */
export function contentEvent(
  topic: ExternalTopic,
  content: TopicContent,
  { revision, nowMs }: { readonly revision: number; readonly nowMs: number },
): ValidEvent {
  const { encoding, payload } = encoded(content.body);
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
      attributes: { source: topic.url, datacontenttype: content.contentType, encoding },
    },
    idempotency: { key: `${topic.hash}:${revision}`, digest: digestOf(content) },
  };
}

export function digestOf({ contentType, body }: TopicContent): Buffer {
  return createHash("sha256").update(`${contentType}\n`).update(body).digest();
}

const MAX_HEADER_BYTES = 1_024;

/** Returns the value if it can be sent in a header, otherwise null. */
export function headerText(value: string | undefined): string | null {
  if (value === undefined || value === "" || value.length > MAX_HEADER_BYTES) return null;
  return /^[\x20-\x7e]+$/.test(value) ? value : null;
}

/** Not parsed: the content is untrusted, and a megabyte of brackets takes the parser half a second. */
function encoded(body: Buffer): { readonly encoding: "text" | "base64"; readonly payload: Buffer } {
  const encoding = isUtf8(body) ? "text" : "base64";
  const text = encoding === "text" ? body.toString() : body.toString("base64");
  return { encoding, payload: Buffer.from(JSON.stringify(text)) };
}
