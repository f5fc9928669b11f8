// Creates a webhook request, signed with your secret.
import { rejectUnknownOptions } from "../options.ts";
import { type PosthornWebhook, posthornWebhookNames, signPosthorn } from "./sign-posthorn.ts";
import { signVendor, type VendorWebhook, vendorWebhookNames } from "./sign-vendor.ts";
import type { SignedWebhook } from "./signed-webhook.ts";

export type SignedRequestOptions = PosthornWebhook | VendorWebhook;

/** For Fetch-based servers: `await receiver.fetch(await signedRequest({ secret, type: "order.paid", data }))`. */
export async function signedRequest(options: SignedRequestOptions): Promise<Request> {
  return requestOf(await signedWebhook(options));
}

/** The parts of the request: `await app.inject({ method, url, headers, payload: Buffer.from(body) })`. */
export async function signedWebhook(options: SignedRequestOptions): Promise<SignedWebhook> {
  checkOptions(options);
  return "vendor" in options ? signVendor(options) : signPosthorn(options);
}

/** Otherwise a mistake in a test would look like a 401 of the receiver. */
function checkOptions(options: SignedRequestOptions): void {
  rejectUnknownOptions(
    "signedRequest",
    options,
    "vendor" in options ? vendorWebhookNames : posthornWebhookNames,
  );
  const secrets = [options.secret].flat();
  if (secrets.length > 0 && secrets.every((secret) => typeof secret === "string" && secret !== "")) return;
  throw new TypeError(
    "signedRequest needs `secret`: the one that the receiver verifies with. Is the environment variable set?",
  );
}

export function requestOf({ method, url, headers, body }: SignedWebhook): Request {
  return new Request(url, { method, headers, body });
}
