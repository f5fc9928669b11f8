// The content that hubs distribute, as a source of a receiver, authenticated by the subscription's own secret.
import type { HeaderSource } from "@posthorn/wire";
import { readHeader } from "../headers.ts";
import { digestOf } from "../request/digest.ts";
import type { RawRequest, Source } from "../source.ts";
import { signatureProblem } from "./hub-signature.ts";
import type { Subscription } from "./subscription.ts";

/** The `data` of an event; the topic's current content is its `body`, as raw bytes. */
export interface WebSubContent {
  /** The topic's canonical URL, as it was requested from the hub; never taken from the request. */
  readonly topic: string;
  /** The content type of the body. Not signed. */
  readonly contentType: string | null;
}

export const CONTENT_TYPE = "websub.content";

/** Requests that came to the callback of a subscription. Keyed by identity, so that none can be forged from outside. */
export type CallbackRequests = WeakMap<HeaderSource, CallbackSubscription>;

export interface CallbackSubscription extends Pick<Subscription, "secret"> {
  readonly topic: string;
}

/** Never read from the network: `withTopic` sets it. */
const TOPIC = "posthorn-websub-topic";

/** The same headers with the subscription's topic. */
export function withTopic(headers: HeaderSource, topic: string): HeaderSource {
  return { get: (name: string) => (name.toLowerCase() === TOPIC ? topic : readHeader(headers, name)) };
}

export function contentSource(name: string, idHeader: string | null, followed: CallbackRequests): Source {
  return {
    name,
    parsedHeaders: [TOPIC, "content-type"],
    hasStableBody: true,
    matches: (headers) => followed.has(headers),

    async authenticate(request) {
      const { topic, secret } = followed.get(request.headers) as CallbackSubscription;
      const signature = readHeader(request.headers, "x-hub-signature");
      const refusal = await signatureProblem(signature, secret, request.body);
      return refusal ?? { ok: true, signedId: await idOf(topic, request, idHeader) };
    },

    parse({ headers, signedId }) {
      const topic = readHeader(headers, TOPIC);
      if (topic === null || signedId === null) {
        return { kind: "malformed", reason: "It does not belong to a subscription." };
      }
      const data: WebSubContent = { topic, contentType: readHeader(headers, "content-type") };
      const event = { id: signedId, type: CONTENT_TYPE, subject: null, sequence: null, createdAt: null };
      return { kind: "events", events: [{ ...event, data, payload: null }] };
    },
  };
}

/** WebSub has no ids: the same bytes of the same topic are the same message, unless the hub identifies deliveries. */
async function idOf(topic: string, { headers, body }: RawRequest, idHeader: string | null): Promise<string> {
  const given = idHeader === null ? null : readHeader(headers, idHeader);
  const encoder = new TextEncoder();
  const parts = [
    encoder.encode(`${topic}\n`),
    given === null ? body : encoder.encode(`id ${given}`),
  ] as const;
  const bytes = new Uint8Array(parts[0].length + parts[1].length);
  bytes.set(parts[0]);
  bytes.set(parts[1], parts[0].length);
  return digestOf(bytes);
}
