// Signs as a vendor does, using the description that receivers verify with.
import {
  type Path,
  type Scheme,
  sign,
  signingKeyBytes,
  type Vendor,
  type VendorName,
  vendors,
  writeTime,
} from "@posthorn/wire";
import {
  bytesOf,
  DEFAULT_URL,
  newId,
  rejectUnsignableId,
  type SignedWebhook,
  type WebhookOptions,
  webhookNames,
} from "./signed-webhook.ts";

export interface VendorWebhook extends WebhookOptions {
  /** `stripe`, `github`, … Discord signs with a key pair: `secret` is then a `signingKey` of `generateSigningKey()`. */
  readonly vendor: VendorName;
  /** The whole body: bytes and strings unchanged, `URLSearchParams` as a form, anything else as JSON. */
  readonly payload: unknown;
  /** Written where the vendor has it, like the id: in a header, as for GitHub and Shopify, or into a payload that is an object. */
  readonly type?: string;
}

export const vendorWebhookNames = [
  ...webhookNames,
  "vendor",
  "payload",
  "type",
] as const satisfies (keyof VendorWebhook)[];

export async function signVendor(webhook: VendorWebhook): Promise<SignedWebhook> {
  const { id = newId(), url = DEFAULT_URL } = webhook;
  const vendor = vendorNamed(webhook.vendor);
  const { scheme } = vendor;
  const secrets = [webhook.secret].flat();
  requireSigningKey(scheme, secrets);
  rejectUnsignableId(id, [scheme]);
  const payload = withIdAndType(vendor, webhook);
  const timestamp = writeTime(webhook.timestamp ?? new Date(), scheme.timeFormat ?? "seconds");
  const isForm = payload instanceof URLSearchParams;
  const body = bytesOf(isForm ? String(payload) : withTime(payload, scheme.timeInBody, timestamp));
  const signatures = await sign({
    ...{ id, timestamp, body, method: "POST", url, schemes: [scheme], secrets },
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
  throw new TypeError(`There is no vendor "${name}". Expected one of: ${Object.keys(vendors).join(", ")}.`);
}

/** A public key, which is what Discord shows, cannot sign. */
function requireSigningKey({ name, key }: Scheme, secrets: readonly string[]): void {
  if (key !== "ed25519" || secrets.some((secret) => signingKeyBytes(key, secret) !== null)) return;
  throw new TypeError(
    `${name} signs with a key pair: \`secret\` is the \`signingKey\` of generateSigningKey() of @posthorn/wire, whsk_ and the base64 of ` +
      "seed and public key; the receiver gets its `publicKey`.",
  );
}

/** Returns whether the vendor has its id in a header, so that one can be set for any payload. */
export function hasIdHeader(name: VendorName): boolean {
  return vendorNamed(name).id.some((field) => "header" in field);
}

/** An id or type that the vendor has in the body is written there; if that is impossible, it is an error. */
function withIdAndType({ scheme, id, type }: Vendor, webhook: VendorWebhook): unknown {
  const inBody = [
    { name: "id", value: webhook.id, fields: id },
    { name: "type", value: webhook.type, fields: type },
  ];
  let { payload } = webhook;
  for (const { name, value, fields } of inBody) {
    if (value === undefined || fields.some((field) => "header" in field)) continue;
    const path = bodyPath(fields[0]);
    const changed = path && withValueAt(payload, path, value);
    if (!changed) throw new TypeError(cannotWrite(name, scheme.name, path));
    payload = changed;
  }
  return payload;
}

function bodyPath(field: Vendor["id"][number] | Vendor["type"][number] | undefined): Path | null {
  return field !== undefined && "body" in field ? field.body : null;
}

/** Null if the path does not lead through objects, or another value is there. */
function withValueAt(payload: unknown, [name, ...rest]: Path, value: string): object | null {
  if (name === undefined || !isRecord(payload)) return null;
  const present = payload[name];
  if (rest.length === 0) {
    return present === undefined || present === value ? { ...payload, [name]: value } : null;
  }
  const inner = withValueAt(present ?? {}, rest, value);
  return inner && { ...payload, [name]: inner };
}

function isRecord(payload: unknown): payload is Record<string, unknown> {
  return isPlain(payload) && !Array.isArray(payload) && !(payload instanceof URLSearchParams);
}

function cannotWrite(name: string, vendor: string, path: Path | null): string {
  if (path === null) return `${vendor} has no ${name} that could be set. Omit \`${name}\`.`;
  const member = path.join(".");
  return `${vendor} has its ${name} in \`${member}\` of the body. Omit \`${name}\` and write it there, or use a payload that is an object without another \`${member}\`.`;
}

/** Linear signs the timestamp as a member of the body: adds it to an object that has none. */
function withTime(payload: unknown, path: Path | undefined, timestamp: string): unknown {
  const [name] = path ?? [];
  if (name === undefined || !isPlain(payload) || name in payload) return payload;
  return { ...payload, [name]: Number(timestamp) };
}

function isPlain(payload: unknown): payload is object {
  return typeof payload === "object" && payload !== null && !(payload instanceof Uint8Array);
}

function inHeader(fields: readonly object[], value: string): Record<string, string> {
  const found = fields.find((field): field is { header: string } => "header" in field);
  return found === undefined ? {} : { [found.header]: value };
}
