// Makes a source of a vendor's description. What a preset adds is its options and what is to be known before using it.
import {
  headerNames,
  type IdPlace,
  type KeyKind,
  type Scheme,
  signedContents,
  type Vendor,
  type VerifyInput,
  verify,
  verifyingKeyBytes,
} from "@posthorn/wire";
import { refusalExplainer } from "../explain-refusals.ts";
import { readHeader } from "../headers.ts";
import type { Authentication, RawRequest, Source } from "../source.ts";
import { headersReadBy, readVendorEvents } from "./vendor-events.ts";

export interface VendorOptions {
  /** All that may have signed: the old and the new while one is being changed. */
  readonly secrets: readonly string[];
  /** Part of every message's key; give one to tell two accounts of a vendor apart. Default: the vendor's name. */
  readonly name?: string;
}

export interface SignedUrlOptions extends VendorOptions {
  /**
   * The public URL as the vendor was given it, without its query (that of the request is used): it is signed, and behind a
   * proxy the request's own is another. Without it the `Host` header is believed, which whoever sends can choose.
   */
  readonly url?: string;
}

export interface UnsignedIdOptions extends VendorOptions {
  /**
   * `digest`: take SHA-256 of the body for the id, since the vendor's own stands in a header that is not signed. Then nothing
   * can be replayed within the window, but two events with the same bytes count as one.
   */
  readonly id?: "digest";
}

export function vendorSource(vendor: Vendor, options: SignedUrlOptions & UnsignedIdOptions): Source {
  const { scheme } = vendor;
  const { secrets, name = scheme.name, url } = checked(scheme, options);
  const ids: readonly IdPlace[] = options.id === "digest" ? [{ digest: "body" }] : vendor.id;
  const described: Vendor = { ...vendor, id: ids };
  const explain = refusalExplainer();

  return {
    name,
    parsedHeaders: headersReadBy(described),
    repeatsBody: vendor.repeatsBody,
    isAddressed: (headers) => readHeader(headers, scheme.headers.signature(headerNames())) !== null,

    async authenticate(request, terms): Promise<Authentication> {
      const addressed = { ...request, url: signedUrl(url, request.url) };
      const input: VerifyInput = { ...addressed, scheme, secrets, ...terms };
      if (scheme.signedUrls && !/^https?:\/\//i.test(addressed.url)) return { ok: false, ...URL_UNKNOWN };
      const result = await verify(input);
      if (result.ok) return { ok: true, signedId: await signedId(ids, scheme, addressed) };
      return { ok: false, ...(await explain(input, result, terms.now)) };
    },

    parse: (authentic) => readVendorEvents(described, authentic),
  };
}

/** Wrong settings throw when the program starts, not when the first request comes. */
function checked<Options extends SignedUrlOptions>({ name, key }: Scheme, options: Options): Options {
  const { secrets, url } = options;
  if (!Array.isArray(secrets) || secrets.length === 0) {
    throw new TypeError(`${name}() needs \`secrets\`: a list of at least one.`);
  }
  secrets.forEach((secret, at) => {
    if (typeof secret === "string" && verifyingKeyBytes(key, secret) !== null) return;
    const expected = EXPECTED[key];
    throw new TypeError(`secrets[${at}] of ${name}() cannot verify: it should be ${expected}. Is it set?`);
  });
  if (url !== undefined && !/^https?:\/\/[^/?#]+[^?#]*$/.test(url)) {
    throw new TypeError(
      `\`url\` of ${name}() is a whole URL without its query, such as https://example.com/hooks.`,
    );
  }
  return options;
}

const EXPECTED: Readonly<Record<KeyKind, string>> = {
  text: "a text that is not empty",
  base64: "whsec_ and base64",
  ed25519: "a public key, in hex or as whpk_ and base64",
};

const URL_UNKNOWN = {
  reason: "malformed",
  hint: "the URL is signed, and the request does not say which it was; give the public URL as `url`",
} as const;

/** The query stays the request's: Twilio adds to it, and proxies leave it alone. */
function signedUrl(publicUrl: string | undefined, requestUrl: string): string {
  if (publicUrl === undefined) return requestUrl;
  const query = requestUrl.indexOf("?");
  return query === -1 ? publicUrl : publicUrl + requestUrl.slice(query);
}

/** The id where the signature vouches for it: in the scheme's header, or as a digest. */
async function signedId(
  ids: readonly IdPlace[],
  scheme: Scheme,
  request: RawRequest,
): Promise<string | null> {
  const header = scheme.headers.id?.(headerNames());
  if (header !== undefined) return readHeader(request.headers, header);
  const place = ids.find((id) => "digest" in id);
  if (place === undefined) return null;
  const { body, method, url } = request;
  const content =
    place.digest === "body" ? body : signedContents(scheme, { id: "", timestamp: "", body, method, url })[0];
  const digest = await crypto.subtle.digest("SHA-256", content as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
