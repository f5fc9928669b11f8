// HubSpot v3: `X-HubSpot-Signature-v3: <base64>` over method, URL, body and the time in milliseconds. The body is a list
// of events; according to HubSpot `eventId` alone is not unique.
import { single } from "../signature/formats.ts";
import type { Vendor } from "./vendor.ts";

export const hubspot: Vendor = {
  scheme: {
    name: "hubspot",
    algorithm: "hmac-sha256",
    key: "text",
    encoding: "base64",
    signedParts: ({ method = "", url = "", body, timestamp }) => [method + url, body, timestamp],
    headers: { signature: () => "X-HubSpot-Signature-v3", timestamp: () => "X-HubSpot-Request-Timestamp" },
    timeFormat: "milliseconds",
    signedUrls: (url) => [decodeSome(url)],
    format: single(""),
  },
  id: [{ joined: [["portalId"], ["subscriptionId"], ["eventId"], ["occurredAt"]] }],
  type: [{ body: ["subscriptionType"] }],
  time: [{ at: { body: ["occurredAt"] }, format: "milliseconds" }],
  data: [],
  isBatch: true,
  // `attemptNumber` differs between attempts.
  hasStableBody: false,
};

/** HubSpot signs the URL with : / ? @ ! $ ' ( ) * , ; decoded and all other escapes unchanged. */
function decodeSome(url: string): string {
  return url.replace(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, decodeURIComponent);
}
