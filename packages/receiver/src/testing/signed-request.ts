// A webhook as it would come, signed with a secret of yours.
import { type PosthornWebhook, signPosthorn } from "./sign-posthorn.ts";
import { signVendor, type VendorWebhook } from "./sign-vendor.ts";
import type { SignedWebhook } from "./signed-webhook.ts";

export type SignedRequestOptions = PosthornWebhook | VendorWebhook;

/** For whatever speaks Fetch: `await receiver.fetch(await signedRequest({ secret, type: "order.paid", data }))`. */
export async function signedRequest(options: SignedRequestOptions): Promise<Request> {
  return requestOf(await signedWebhook(options));
}

/** The same in parts: `await app.inject({ method, url, headers, payload: Buffer.from(body) })`. */
export function signedWebhook(options: SignedRequestOptions): Promise<SignedWebhook> {
  return "vendor" in options ? signVendor(options) : signPosthorn(options);
}

export function requestOf({ method, url, headers, body }: SignedWebhook): Request {
  return new Request(url, { method, headers, body });
}
