// Creates a source from a vendor's description.
import {
  headerNames,
  type KeyKind,
  type Scheme,
  type Secret,
  sha256HexOf,
  signedContents,
  signText,
  type Vendor,
  type VendorIdField,
  type VerifyInput,
  verify,
  verifyingKeyBytes,
} from "@posthorn/wire";
import { readHeader } from "../headers.ts";
import { rejectUnknownOptions } from "../options.ts";
import type { Authentication, RawRequest, Source } from "../source.ts";
import { rejectionExplainer } from "./explain-rejections.ts";
import { checkedSecrets, type SigningOptions } from "./signing-source.ts";
import { headersReadBy, readVendorEvents, signedResponse } from "./vendor-events.ts";

export interface SignedUrlOptions extends SigningOptions {
  /**
   * The public URL that the vendor was given, without its query (the request's query is used). It is signed, and behind a proxy the
   * request's own URL differs. Without this option the `Host` header is trusted, which the sender can choose.
   */
  readonly url?: string | undefined;
}

export interface UnsignedIdOptions extends SigningOptions {
  /**
   * `digest`: use SHA-256 of the body as the id, because the vendor's own id is in an unsigned header. Then nothing can be replayed
   * within the window, but two events with the same bytes count as one.
   */
  readonly id?: "digest" | undefined;
}

export function vendorSource(vendor: Vendor, options: SignedUrlOptions & UnsignedIdOptions): Source {
  const settings = checked(vendor, options);
  return describedSource(
    options.id === "digest" ? { ...vendor, id: [{ digest: "body" }] } : vendor,
    settings,
  );
}

export interface DescribedSourceSettings {
  readonly name: string;
  readonly secrets: readonly Secret[];
  readonly url?: string | undefined;
  /** Default: the receiver's. */
  readonly toleranceSeconds?: number | undefined;
}

/** A source whose sender is described by data. */
export function describedSource(vendor: Vendor, settings: DescribedSourceSettings): Source {
  const { scheme, id: ids } = vendor;
  const { name, secrets, url } = settings;
  const explain = rejectionExplainer();

  return {
    name,
    parsedHeaders: headersReadBy(vendor),
    hasStableBody: vendor.hasStableBody,
    matches: (headers) => readHeader(headers, scheme.headers.signature(headerNames())) !== null,

    async authenticate(request, options): Promise<Authentication> {
      const addressed = { ...request, url: signedUrl(url, request.url) };
      const toleranceSeconds = settings.toleranceSeconds ?? options.toleranceSeconds;
      const input: VerifyInput = { ...addressed, scheme, secrets, toleranceSeconds, now: options.now };
      if (scheme.signedUrls && !/^https?:\/\//i.test(addressed.url)) return URL_UNKNOWN;
      const result = await verify(input);
      if (result.ok) {
        const answer = await signedResponse(vendor, request, (text) => signAsSender(input, text));
        if (answer !== null) return { ok: true, signedId: null, answer };
        return { ok: true, signedId: await signedId(ids, scheme, await asSigned(input, addressed)) };
      }
      return { ...result, explain: () => explain(input, result, options.now) };
    },

    parse: (verified) => readVendorEvents(vendor, verified),
  };
}

/** Invalid settings throw at start, not at the first request. */
function checked({ scheme, id }: Vendor, options: SignedUrlOptions & UnsignedIdOptions) {
  const preset = scheme.name;
  const hasUnsignedId = scheme.headers.id === undefined && id.some((field) => "header" in field);
  rejectUnknownOptions(`${preset}()`, options, [
    "secrets",
    "name",
    ...(scheme.signedUrls === undefined ? [] : ["url"]),
    ...(hasUnsignedId ? ["id"] : []),
  ]);
  const { url, name = preset } = options;
  const secrets = checkedSecrets(preset, options.secrets);
  const unusable = secrets.findIndex((secret) => verifyingKeyBytes(scheme.key, secret) === null);
  if (unusable !== -1) {
    throw new TypeError(`secrets[${unusable}] of ${preset}() should be ${EXPECTED[scheme.key]}.`);
  }
  if (url !== undefined && !/^https?:\/\/[^/?#]+[^?#]*$/.test(url)) {
    throw new TypeError(
      `\`url\` of ${preset}() must be an absolute URL without a query, such as https://example.com/hooks.`,
    );
  }
  if (options.id !== undefined && options.id !== "digest") {
    throw new TypeError(`\`id\` of ${preset}() must be "digest", or omitted to use the vendor's own id.`);
  }
  return { secrets, name, url };
}

const EXPECTED: Readonly<Record<KeyKind, string>> = {
  text: "a shared secret, not a key of a pair",
  base64: "whsec_ and base64",
  ed25519: "a public key, in hex or as whpk_ and base64",
};

const URL_UNKNOWN: Authentication = {
  ok: false,
  reason: "malformed",
  explain: async () => ({
    reason: "malformed",
    hint: "the URL is signed, but the request does not contain it; set the public URL as `url`",
  }),
};

/** Uses the query of the request: Twilio adds to it, and proxies do not change it. */
function signedUrl(publicUrl: string | undefined, requestUrl: string): string {
  if (publicUrl === undefined) return requestUrl;
  const query = requestUrl.indexOf("?");
  return query === -1 ? publicUrl : publicUrl + requestUrl.slice(query);
}

/** The spelling of the URL that was signed, because the sender may choose any of the others. */
async function asSigned(input: VerifyInput, request: RawRequest): Promise<RawRequest> {
  const scheme = input.scheme as Scheme;
  for (const url of scheme.signedUrls?.(request.url) ?? []) {
    const { ok } = await verify({ ...input, url, scheme: { ...scheme, signedUrls: () => [url] } });
    if (ok) return { ...request, url };
  }
  return request;
}

/** Signs with the secret that signed the challenge: during a rotation, the sender may know only one of them. */
async function signAsSender(input: VerifyInput, text: string): Promise<string> {
  const scheme = input.scheme as Scheme;
  for (const secret of input.secrets) {
    if ((await verify({ ...input, secrets: [secret] })).ok) return await signText(scheme, secret, text);
  }
  throw new Error("No secret has signed the challenge.");
}

/** The id if the signature covers it: in the scheme's header, or as a digest. */
async function signedId(
  ids: readonly VendorIdField[],
  scheme: Scheme,
  request: RawRequest,
): Promise<string | null> {
  const header = scheme.headers.id?.(headerNames());
  if (header !== undefined) return readHeader(request.headers, header);
  const field = ids.find((id) => "digest" in id);
  if (field === undefined) return null;
  const { body, method, url } = request;
  const content =
    field.digest === "body" ? body : signedContents(scheme, { id: "", timestamp: "", body, method, url })[0];
  return sha256HexOf(content as Uint8Array<ArrayBuffer>);
}
