// The delivery contract: what receivers can rely on and must do.
import { endpointSettings } from "@posthorn/wire";
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import * as s from "./parts.ts";

const header = s.component("ContractHeader", {
  name: s.text("Name of the header."),
  meaning: s.choice(
    [
      "event_id",
      "event_type",
      "event_time",
      "delivery_id",
      "attempt",
      "timestamp",
      "signature",
      "signature_input",
      "body_digest",
      "next_signature",
      "content_type",
      "user_agent",
      "trace",
      "authorization",
      "handshake_origin",
      "custom",
      "fixed",
    ],
    "What the header has. `timestamp`: the time of the attempt. `signature_input` and `body_digest`: what the signatures of RFC 9421 cover, and the digest of the body. `next_signature`: the signature of a newer secret, during a rotation. `trace`: the W3C trace context. `custom`: a header of the endpoint.",
  ),
  example: s.nullableText("A value. Null for values that only the endpoint's owner knows."),
  is_always_sent: s.flag("False for `next_signature` and `trace`, which only some requests have."),
});

const timestamp = z.object({
  header: s.optionalText("The header with the timestamp."),
  prefix: s.optionalText("The prefix of the timestamp in the signature header, such as `t=`."),
  format: s.choice(["seconds", "milliseconds", "rfc3339"], "The format of the timestamp."),
});

const facts = z.object({
  algorithm: s.choice(
    ["hmac-sha256", "hmac-sha512", "hmac-sha1", "ed25519", "token"],
    "The algorithm. `token`: the header is the secret itself.",
  ),
  key: s.choice(
    ["text", "base64", "hex", "ed25519"],
    "The key. `text`: the bytes of the whole secret. `base64`: the secret, or what follows its `whsec_`, decoded. `hex`: the secret, decoded. `ed25519`: what follows `whpk_` of the public key, decoded.",
  ),
  encoding: s.choice(["hex", "base64", "text"], "The encoding of a signature."),
  signature_header: s.text("The header with the signatures."),
  signature_prefix: s.text("The text before each signature, such as `v1=`. May be empty."),
  separator: s.nullableText("The character between the parts of the header. Null if it is one value."),
  holds_many: s.flag(
    "Whether the header has a signature for every valid secret. If not, the secret that expires first signs during a rotation.",
  ),
  next_signature_header: s.nullableText(
    "The header with the signatures of newer secrets during a rotation. Null if there is none.",
  ),
  timestamp: s.nullable(timestamp, "Where the timestamp is. Null if none is sent in a header."),
  id_header: s.nullableText("The header with the id that is signed. Null if none is."),
  signed: s.list(
    z.string(),
    "The signed text in parts: literal text, and `{id}`, `{timestamp}`, `{body}`, `{method}` and `{url}` for these values.",
  ),
  digest_parameter: s.nullableText(
    "The query parameter of the URL with the body's SHA-256, for a scheme that signs it instead of the body. Null otherwise.",
  ),
  time_in_body: s.nullableText("The member of the body with the time, if no header has it. Null otherwise."),
  tolerance_seconds: s.nullableInt("How far the time may be off. Null if no time is signed."),
});

const signature = s.component("ContractSignature", {
  scheme: s.text("Name of the signature scheme."),
  facts: s.nullable(
    facts,
    "How it is verified. Null for HTTP Message Signatures (RFC 9421): their headers state what is signed.",
  ),
  snippets: s.list(
    z.object({
      language: s.choice(
        ["TypeScript", "Python", "Go", "PHP", "Ruby", "Java", "Shell"],
        "The programming language.",
      ),
      code: s.text("A function that verifies a request."),
    }),
    "Code that verifies a request.",
  ),
});

const RESULTS = ["delivered", "retried", "dead", "disabled", "postponed"] as const;
const resultText =
  "`delivered`: accepted. `retried`: by the retry policy. `dead`: not retried. `disabled`: not retried, and the endpoint is disabled. `postponed`: retried without counting as a failure.";

const response = s.component("ContractResponse", {
  statuses: s.list(
    z.object({ from: s.int("First status."), to: s.int("Last status.") }),
    "Ranges of HTTP statuses, inclusive.",
  ),
  result: s.choice(RESULTS, resultText),
  retry_after: s.choice(
    ["ignored", "honored", "required"],
    "Whether Retry-After delays the next attempt. `required`: this row applies only to responses that have it.",
  ),
  pauses_endpoint: s.flag("Whether all deliveries of the endpoint are paused for a while."),
});

const deliveryContract = s.component("DeliveryContract", {
  request: s.group("The request.", {
    method: z.literal("POST").describe("Always `POST`."),
    timeout_ms: s.int("Milliseconds within which the receiver has to respond."),
    format: s.choice(endpointSettings.format.values, "The format of the body."),
    content_type: s.nullableText("The content type. Null if none is sent."),
    header_prefix: s.text("The prefix of Posthorn's own headers."),
    headers: s.list(header, "The headers, except `Host`, `Connection` and `Content-Length`."),
    body: s.text("The body of an example."),
    follows_redirects: z.literal(false).describe("Redirects are never followed."),
  }),
  signatures: s.list(signature, "The signatures. Verifying one of them is sufficient."),
  example_secret: s.text("The secret that signed the example. It is public and never used otherwise."),
  responses: s.list(response, "What the HTTP statuses mean."),
  errors: s.list(
    z.object({
      errors: s.list(z.string(), "Errors, as in attempts."),
      result: s.choice(RESULTS, resultText),
    }),
    "What happens if there is no response.",
  ),
  retries: s.group("The retry policy.", {
    max_attempts: s.int("Maximum number of attempts."),
    max_age_ms: s.nullableInt("Maximum age of the event at an attempt in milliseconds. Null: unlimited."),
    waits: s.list(
      z.object({
        min_ms: s.int("Shortest wait in milliseconds."),
        max_ms: s.int("Longest wait in milliseconds."),
      }),
      "The wait after each failed attempt.",
    ),
  }),
  ordering: s.group("The order of events.", {
    mode: s.choice(["none", "fifo"], "`fifo`: the events of a subject in order, one at a time."),
    on_dead: s.choice(
      ["pass", "hold"],
      "With `fifo`, whether later events of a subject are sent (`pass`) or wait (`hold`) after a dead one.",
    ),
  }),
  duplicates: s.group("How to recognise an event that is sent again.", {
    id_header: s.nullableText("The header with the event's id. Null if none has it."),
    id_in_body: s.nullableText("The member of the body with the event's id. Null if none has it."),
    retried_for_ms: s.int("Longest time from the first to the last automatic attempt in milliseconds."),
    replayable_days: s.int("Days within which a person can send a finished event again."),
  }),
  pace: s.group("How much is sent at a time.", {
    max_in_flight: s.int("Requests at a time."),
    max_in_flight_burst: s.int("Requests at a time while responses are fast and successful."),
    rate_limit: s.nullableInt("Requests per second. Null: unlimited."),
  }),
  failures: s.group("What repeated failures lead to.", {
    circuit_failures: s.int("Consecutive failures that pause the endpoint's deliveries. 0: never."),
    circuit_failure_percent: s.int("Percentage of failures within a minute that does so. 0: never."),
    circuit_failures_per_hour: s.int("Failures within an hour that do so. 0: never."),
    circuit_pause_ms: s.int("The first pause in milliseconds."),
    disable_after_failures: s.int("Consecutive failures after which the endpoint is disabled. 0: never."),
    disable_after_days: s.int("Days without success after which the endpoint is disabled. 0: never."),
  }),
});
export type DeliveryContract = z.output<typeof deliveryContract>;

const reading: Permission = { scopes: ["webhooks:manage", "deliveries:read"], reach: "tenant" };

/** Stored secrets are bytes, so only the caller knows how the receiver has them. */
const secretQuery = {
  secret_encoding: s.optional(
    s.secretEncoding,
    "The `secret_encoding` with which the endpoint's secret was given: the code then takes that secret. Default: `whsec`, Posthorn's own format.",
  ),
};

export const deliveryContracts = {
  get: operation("GET", "/api/v1/contract", {
    summary: "Returns the delivery contract of endpoints that use the deployment's settings",
    permission: reading,
    query: z.object({
      scheme: s.optionalText("A signature scheme to use instead of the deployment's."),
      header_prefix: s.optionalText("A header prefix to use instead of the deployment's."),
      ...secretQuery,
    }),
    response: { status: 200, schema: deliveryContract },
  }),
  ofEndpoint: operation("GET", "/api/v1/tenants/{tenant}/endpoints/{endpoint}/contract", {
    summary: "Returns the delivery contract of an endpoint",
    permission: reading,
    query: z.object(secretQuery),
    response: { status: 200, schema: deliveryContract },
    errors: { 404: ["endpoint_not_found"], 409: ["endpoint_is_subscription"] },
  }),
};
