// What hubs distribute, as a source of a receiver: authentic by the subscription's own secret.
import type { HeaderSource } from "@posthorn/wire";
import { readHeader } from "../headers.ts";
import { digestOf } from "../request/digest.ts";
import type { RawRequest, Source } from "../source.ts";
import { signatureProblem } from "./hub-signature.ts";
import type { Subscription } from "./subscription.ts";

/** The `data` of an event; what the topic holds now is its `body`, bytes as they came. */
export interface WebSubContent {
  /** The canonical URL of the topic, as it was asked of the hub; never what the request says of itself. */
  readonly topic: string;
  /** Of the body, as the topic has it. Not signed. */
  readonly contentType: string | null;
}

export const CONTENT_TYPE = "websub.content";

/** Requests that came to the callback of a subscription. By identity, so that nobody can put one in from outside. */
export type CallbackRequests = WeakMap<HeaderSource, CallbackSubscription>;

export interface CallbackSubscription extends Pick<Subscription, "secret"> {
  readonly topic: string;
}

/** Never from the network: `withTopic` says what it is. */
const TOPIC = "posthorn-websub-topic";

/** The same headers, and the topic that the subscription has. */
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
        return { kind: "malformed", reason: "It did not come by a subscription." };
      }
      const data: WebSubContent = { topic, contentType: readHeader(headers, "content-type") };
      const event = { id: signedId, type: CONTENT_TYPE, subject: null, sequence: null, createdAt: null };
      return { kind: "events", events: [{ ...event, data, payload: null }] };
    },
  };
}

/** WebSub has no ids: the same bytes of the same topic are the same message, unless the hub tells deliveries apart. */
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
