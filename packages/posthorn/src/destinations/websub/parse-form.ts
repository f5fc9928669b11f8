// Parses a form that was posted to the hub, or rejects it. Pure: whether the topic is offered and the callback agrees
// is found out after the response (REC 5.1).
import { parseUrl } from "@posthorn/wire";
import { checkUrl } from "../../attempt/guard/check-url.ts";
import type { AddressPolicy } from "../../attempt/guard/guard-address.ts";
import { PosthornError } from "../../errors.ts";
import { withoutFragment, withParameters } from "./urls.ts";

export type HubRequest =
  | {
      readonly kind: "subscription";
      readonly mode: "subscribe" | "unsubscribe";
      readonly topic: string;
      readonly callback: string;
      /** Null if the hub chooses. */
      readonly leaseSeconds: number | null;
      readonly secret: string | null;
      /**
       * From PubSubHubbub 0.3, the predecessor of WebSub: NewsBlur confirms a subscription only if this is repeated.
       */
      readonly verifyToken: string | null;
    }
  | { readonly kind: "publish"; readonly topics: readonly string[] };

/** A secret of 200 bytes is too long already (REC 5.1). */
const MAX_SECRET_BYTES = 199;
const MAX_PINGED_TOPICS = 100;
const MAX_URL_BYTES = 2_048;

/** Unknown parameters are ignored. */
export function parseForm(form: URLSearchParams, policy: AddressPolicy): HubRequest {
  const mode = only(form, "hub.mode");
  if (mode === "publish") return { kind: "publish", topics: readPinged(form) };
  if (mode !== "subscribe" && mode !== "unsubscribe") {
    throw refusal("hub.mode must be subscribe, unsubscribe or publish.");
  }
  const topic = required(form, "hub.topic");
  const callback = withoutFragment(required(form, "hub.callback"));
  const verifyToken = only(form, "hub.verify_token") || null;
  // the address of a topic is checked when it is fetched
  if (!isWebUrl(topic))
    throw refusal("hub.topic must be a URL with http or https, without user name and password.");
  checkCallback(callback, { topic, verifyToken }, policy);
  // "MAY be present for unsubscription requests and MUST be ignored by the hub in that case"
  if (mode === "unsubscribe") {
    return { kind: "subscription", mode, topic, callback, leaseSeconds: null, secret: null, verifyToken };
  }
  const leaseSeconds = readLease(only(form, "hub.lease_seconds"));
  return { kind: "subscription", mode, topic, callback, leaseSeconds, secret: readSecret(form), verifyToken };
}

function only(form: URLSearchParams, name: string): string | null {
  const values = form.getAll(name);
  if (values.length > 1) throw refusal(`${name} occurs ${values.length} times. Send it once.`);
  const [value = null] = values;
  if (value?.includes("\uFFFD")) throw refusal(`${name} is not valid UTF-8.`);
  return value;
}

function required(form: URLSearchParams, name: string): string {
  const value = only(form, name);
  if (value === null || value === "") throw refusal(`${name} is missing.`);
  return value;
}

function isWebUrl(text: string): boolean {
  const url = parseUrl(text);
  if (Buffer.byteLength(text) > MAX_URL_BYTES || /[\s\p{Cc}]/u.test(text) || url === null) return false;
  const { protocol, username, password } = url;
  return (protocol === "https:" || protocol === "http:") && username === "" && password === "";
}

function checkCallback(
  callback: string,
  { topic, verifyToken }: { readonly topic: string; readonly verifyToken: string | null },
  policy: AddressPolicy,
): void {
  if (verifyToken?.includes("\0")) throw refusal("hub.verify_token must not contain NUL.");
  if (/\s/.test(callback)) throw refusal("hub.callback must be a URL without spaces.");
  const check = checkUrl(callback, policy);
  if (!check.ok) throw refusal(`hub.callback cannot be used. ${check.problem.message}`);
  // the longest request that is sent to it
  const longest = withParameters(callback, {
    "hub.mode": "unsubscribe",
    "hub.topic": topic,
    "hub.challenge": "c".repeat(43),
    "hub.lease_seconds": "99999999",
    "hub.reason": "r".repeat(100),
    ...(verifyToken !== null && { "hub.verify_token": verifyToken }),
  });
  if (Buffer.byteLength(longest) > MAX_URL_BYTES) {
    throw refusal(
      `hub.callback and hub.topic are too long together: verifying them takes a URL of more than ${MAX_URL_BYTES} bytes.`,
    );
  }
}

function readLease(text: string | null): number | null {
  if (text === null || text === "") return null;
  // the value may be of any length: the hub limits the lease
  if (!/^[0-9]+$/.test(text) || Number(text) === 0) {
    throw refusal("hub.lease_seconds must be a positive whole number, in decimal digits.");
  }
  return Number(text);
}

function readSecret(form: URLSearchParams): string | null {
  const secret = only(form, "hub.secret");
  if (secret === null || secret === "") return null;
  if (Buffer.byteLength(secret) > MAX_SECRET_BYTES) {
    throw refusal(`hub.secret must have less than 200 bytes; it has ${Buffer.byteLength(secret)}.`);
  }
  if (secret.includes("\0")) throw refusal("hub.secret must not contain NUL.");
  return secret;
}

/** WordPress sends several `hub.url` at once; others use `hub.topic`. */
function readPinged(form: URLSearchParams): readonly string[] {
  const names = ["hub.url", "hub.topic", "hub.url[]", "hub.topic[]"];
  const topics = [...new Set(names.flatMap((name) => form.getAll(name)))];
  if (topics.length === 0) throw refusal("hub.url or hub.topic is missing: name the topic that has changed.");
  if (topics.length > MAX_PINGED_TOPICS) {
    throw refusal(`At most ${MAX_PINGED_TOPICS} topics per request; this one has ${topics.length}.`);
  }
  const wrong = topics.find((topic) => !isWebUrl(topic));
  if (wrong !== undefined) throw refusal("hub.url must be a URL with http or https.");
  return topics;
}

export function refusal(message: string): PosthornError {
  return new PosthornError("invalid_websub_request", message);
}
