// Twilio: `X-Twilio-Signature: <base64 of HMAC-SHA1>` over the URL and, for forms, their sorted parameters without
// separators; for JSON the URL contains `bodySHA256`. No time or id is signed, so the id is the digest of the signed text.
import { single } from "../signature/formats.ts";
import { sortedParameters } from "./form.ts";
import type { Vendor } from "./vendor.ts";

const BODY_DIGEST = /[?&]bodySHA256=([^&#]*)/;

export const twilio: Vendor = {
  scheme: {
    name: "twilio",
    algorithm: "hmac-sha1",
    key: "text",
    encoding: "base64",
    signedParts: ({ url = "", body }) => (BODY_DIGEST.test(url) ? [url] : [url, sortedParameters(body)]),
    headers: { signature: () => "X-Twilio-Signature" },
    signedUrls: (url) => [url, withOtherPort(url)],
    // Twilio's SDK accepts JSON only with its digest in the URL.
    urlToSend: (url, bodySha256) => `${url}${url.includes("?") ? "&" : "?"}bodySHA256=${bodySha256}`,
    bodyDigest: ({ url = "" }) => BODY_DIGEST.exec(url)?.[1] ?? null,
    format: single(""),
  },
  id: [{ digest: "signed" }],
  type: [
    { body: ["EventType"] },
    { body: ["MessageStatus"] },
    { body: ["SmsStatus"] },
    { body: ["CallStatus"] },
    { fixed: "webhook" },
  ],
  time: [],
  data: [],
  hasStableBody: false,
};

/** Twilio may omit the port or add the default port, unlike the configured URL. */
function withOtherPort(url: string): string {
  const [, scheme = "", host = "", port = "", rest = ""] =
    /^(https?:\/\/)((?:[^/?#@]*@)?(?:\[[^\]]*\]|[^/?#:@]*))(:\d*)?(.*)$/is.exec(url) ?? [];
  if (scheme === "") return url;
  if (port !== "") return scheme + host + rest;
  return `${scheme}${host}:${scheme.toLowerCase() === "https://" ? 443 : 80}${rest}`;
}
