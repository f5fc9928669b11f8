// Signs as a vendor does, by the description that receivers verify with.
import { type Path, sign, type Vendor, type VendorName, vendors, writeTime } from "@posthorn/wire";
import { bytesOf, DEFAULT_URL, newId, type SignedWebhook, type WebhookOptions } from "./signed-webhook.ts";

export interface VendorWebhook extends WebhookOptions {
  /** `stripe`, `github`, … Discord signs with a key pair: its `secret` here is a `whsk_` key of `generateSigningKey()`. */
  readonly vendor: VendorName;
  /** The whole body: bytes and text as they are, `URLSearchParams` as a form, all else as JSON. */
  readonly payload: unknown;
  /** For vendors that name it in a header, such as GitHub and Shopify; the others have it in the payload. */
  readonly type?: string;
}

export async function signVendor(webhook: VendorWebhook): Promise<SignedWebhook> {
  const { payload, id = newId(), url = DEFAULT_URL } = webhook;
  const vendor = vendorNamed(webhook.vendor);
  const { scheme } = vendor;
  const timestamp = writeTime(webhook.timestamp ?? new Date(), scheme.timeFormat ?? "seconds");
  const isForm = payload instanceof URLSearchParams;
  const body = bytesOf(isForm ? String(payload) : withTime(payload, scheme.timeInBody, timestamp));
  const signatures = await sign({
    ...{ id, timestamp, body, method: "POST", url, schemes: [scheme] },
    secrets: [webhook.secret].flat(),
  });
  const headers = {
    "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
    ...inHeader(vendor.id, id),
    ...(webhook.type !== undefined && inHeader(vendor.type, webhook.type)),
    ...signatures,
    ...webhook.headers,
  };
  return { method: "POST", url, headers, body };
}

function vendorNamed(name: string): Vendor {
  if (Object.hasOwn(vendors, name)) return vendors[name as VendorName];
  throw new TypeError(`There is no vendor "${name}". Choose from ${Object.keys(vendors).join(", ")}.`);
}

/** Linear signs the time as a member of the body; an object that is to be JSON gets it unless it has one. */
function withTime(payload: unknown, path: Path | undefined, timestamp: string): unknown {
  const [name] = path ?? [];
  if (name === undefined || !isPlain(payload) || name in payload) return payload;
  return { ...payload, [name]: Number(timestamp) };
}

function isPlain(payload: unknown): payload is object {
  return typeof payload === "object" && payload !== null && !(payload instanceof Uint8Array);
}

function inHeader(places: readonly object[], value: string): Record<string, string> {
  const place = places.find((place): place is { header: string } => "header" in place);
  return place === undefined ? {} : { [place.header]: value };
}
