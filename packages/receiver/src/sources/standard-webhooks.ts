// Senders that use the Standard Webhooks specification, with CloudEvents or any other JSON in the body.
import { isObject, readJson } from "@posthorn/wire";
import type { VerifiedRequest } from "../model.ts";
import { rejectUnknownOptions } from "../options.ts";
import type { Parsed, Source } from "../source.ts";
import { BINARY_HEADERS, parseBinaryCloudEvent, parseCloudEvents } from "./cloud-events.ts";
import { authenticator, type CloudEventsOptions, isBinary } from "./signing-source.ts";

/**
 * Senders with `webhook-*` headers. `secrets` are `whsec_…` or `whpk_…`. The id is `webhook-id`, which is signed. The type is the
 * payload's `type`, or `message` if it has none.
 */
export function standardWebhooks(options: CloudEventsOptions): Source {
  rejectUnknownOptions("standardWebhooks()", options, ["secrets", "name", "format"]);
  const isInHeaders = isBinary("standardWebhooks", options);
  return {
    name: options.name ?? "standard-webhooks",
    ...authenticator("standardWebhooks", options, ["standard-webhooks", "standard-webhooks-v1a"]),
    parsedHeaders: isInHeaders ? BINARY_HEADERS : [],
    hasStableBody: true,
    parse: (verified) =>
      isInHeaders ? parseBinaryCloudEvent(verified) : (parseCloudEvents(verified) ?? parseStandard(verified)),
  };
}

function parseStandard({ signedId, body }: VerifiedRequest): Parsed {
  const json = readJson(body);
  if (!json.ok) return { kind: "malformed", reason: json.reason };
  const payload = json.value;
  const { type, timestamp, ...rest } = isObject(payload) ? payload : {};
  const createdAt = typeof timestamp === "string" ? new Date(timestamp) : new Date(Number.NaN);
  return {
    kind: "events",
    events: [
      {
        id: signedId as string,
        type: typeof type === "string" && type !== "" ? type : "message",
        subject: null,
        sequence: null,
        createdAt: Number.isNaN(createdAt.getTime()) ? null : createdAt,
        data: "data" in rest ? rest.data : payload,
        payload,
      },
    ],
  };
}
