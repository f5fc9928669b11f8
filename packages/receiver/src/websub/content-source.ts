// The content that hubs distribute, as a source of a receiver, authenticated by the subscription's own secret.
import { concat, type HeaderSource, sha256HexOf } from "@posthorn/wire";
import { readHeader } from "../headers.ts";
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

const CONTENT_TYPE = "websub.content";

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

export function contentSource(
  name: string,
  idHeader: string | null,
  callbackRequests: CallbackRequests,
): Source {
  return {
    name,
    parsedHeaders: [TOPIC, "content-type"],
    hasStableBody: true,
    matches: (headers) => callbackRequests.has(headers),

    async authenticate(request) {
      const { topic, secret } = callbackRequests.get(request.headers) as CallbackSubscription;
      const signature = readHeader(request.headers, "x-hub-signature");
      const rejection = await signatureProblem(signature, secret, request.body);
      return rejection ?? { ok: true, signedId: await idOf(topic, request, idHeader) };
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
  const id = idHeader === null ? null : readHeader(headers, idHeader);
  return sha256HexOf(concat([`${topic}\n`, id === null ? body : `id ${id}`]));
}
