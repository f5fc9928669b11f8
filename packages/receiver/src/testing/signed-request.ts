// A webhook as it would come, signed with a secret of yours.
import { rejectUnknownOptions } from "../options.ts";
import { type PosthornWebhook, posthornWebhookNames, signPosthorn } from "./sign-posthorn.ts";
import { signVendor, type VendorWebhook, vendorWebhookNames } from "./sign-vendor.ts";
import type { SignedWebhook } from "./signed-webhook.ts";

export type SignedRequestOptions = PosthornWebhook | VendorWebhook;

/** For whatever speaks Fetch: `await receiver.fetch(await signedRequest({ secret, type: "order.paid", data }))`. */
export async function signedRequest(options: SignedRequestOptions): Promise<Request> {
  return requestOf(await signedWebhook(options));
}

/** The same in parts: `await app.inject({ method, url, headers, payload: Buffer.from(body) })`. */
export async function signedWebhook(options: SignedRequestOptions): Promise<SignedWebhook> {
  checkOptions(options);
  return "vendor" in options ? signVendor(options) : signPosthorn(options);
}

/** A test with a slip of its own would blame the receiver for a 401. */
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
