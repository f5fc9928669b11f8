// Requests a subscription, or its end, from a hub: WebSub §5.1. The hub reports the result at the callback.
import { type HttpOptions, readUpTo, request } from "./http.ts";
import { httpUrl } from "./link-header.ts";
import type { HubTopic, Subscription } from "./subscription.ts";

export interface HubRequestOptions extends HttpOptions {
  readonly callback: string;
  readonly leaseSeconds: number;
}

const MAX_REDIRECTS = 5;
const MAX_REASON_BYTES = 500;

/** Throws if the hub does not accept the request. */
export async function requestSubscription(
  { mode, secret }: Subscription,
  { topic, hub }: HubTopic,
  options: HubRequestOptions,
): Promise<void> {
  const form = new URLSearchParams({
    "hub.mode": mode,
    "hub.topic": topic,
    "hub.callback": options.callback,
  });
  if (mode === "subscribe") {
    form.set("hub.secret", secret);
    form.set("hub.lease_seconds", String(options.leaseSeconds));
  }
  const response = await postForm(hub, form.toString(), options, MAX_REDIRECTS);
  if (response.ok) {
    await response.body?.cancel();
    return;
  }
  const reason = (await readUpTo(response, MAX_REASON_BYTES)).trim();
  throw new Error(`The hub ${hub} returned HTTP ${response.status}${reason === "" ? "." : `: ${reason}`}`);
}

/** 307 and 308 lead to another hub; for other redirects Fetch would send a GET. */
async function postForm(
  hub: string,
  form: string,
  options: HttpOptions,
  redirectsLeft: number,
): Promise<Response> {
  // some hubs refuse the charset that fetch adds to URLSearchParams
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const response = await request(hub, { method: "POST", headers, body: form, redirect: "manual" }, options);
  if (response.status !== 307 && response.status !== 308) return response;
  await response.body?.cancel();
  const location = response.headers.get("location");
  const next = location === null ? null : httpUrl(location, hub);
  if (next === null)
    throw new Error(`The hub ${hub} returned HTTP ${response.status} without a valid Location.`);
  if (redirectsLeft === 0) throw new Error(`The hub ${hub} redirected more than ${MAX_REDIRECTS} times.`);
  if (hub.startsWith("https:") && next.startsWith("http:")) {
    throw new Error(`The hub ${hub} redirects to ${next}, which would expose the secret without https.`);
  }
  return postForm(next, form, options, redirectsLeft - 1);
}
