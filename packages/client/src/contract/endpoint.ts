// What an endpoint is, and what of it can be set.
import { z } from "zod";
import { createdAt, endpointId, tenantId, time, updatedAt } from "./parts.ts";
import { retryPolicy, retryPolicyInput } from "./retry-policy.ts";

const format = z
  .enum([
    "envelope",
    "data",
    "thin",
    "cloudevents",
    "cloudevents-binary",
    "cloudevents-thin",
    "cloudevents-batch",
  ])
  .describe(
    "What is sent: `envelope`, the data with its id, type and time; `data`, the bare data; `thin`, id, type and subject alone; or a CloudEvent: `cloudevents` in one JSON document, `cloudevents-binary` with its attributes in headers, `cloudevents-thin` with a `dataref` in place of the data, `cloudevents-batch` many in one request.",
  );
const batch = z
  .object({
    max_events: z.int().meta({ description: "Events in a batch.", minimum: 1, maximum: 1_000 }),
    max_bytes: z.int().meta({
      description: "Bytes of its body; one event that is longer goes alone.",
      minimum: 1_024,
      maximum: 4_194_304,
    }),
    max_delay_ms: z.int().meta({
      description: "Milliseconds that its first event waits for others.",
      minimum: 10,
      maximum: 3_600_000,
    }),
  })
  .describe("Of the format `cloudevents-batch`: a batch goes when the first of these is reached.");
const retryOn = z
  .enum(["transient", "every"])
  .describe(
    "Which answers are tried again: `transient`, 408, 429, 5xx and none at all; `every`, all but 2xx and 410.",
  );
const ordering = z
  .enum(["none", "fifo"])
  .describe("`none`, or `fifo`: the events of a subject one by one, in the order of their sequence.");
const fifoOnDead = z
  .enum(["pass", "hold"])
  .describe(
    "With `fifo`: a dead delivery lets those after it in its subject `pass`, or will `hold` them up.",
  );
const signature = z
  .object({
    schemes: z
      .array(z.string())
      .describe(
        "One or more of t-v1, sha256, two-headers, standard-webhooks, standard-webhooks-v1a, rfc9421, rfc9421-ed25519, or a vendor whose receivers are to accept it: github, stripe, slack and others. See the reference of signatures.",
      ),
    header_prefix: z.string().describe("What the names of Posthorn's headers begin with, such as X-Webhook."),
  })
  .describe("How its deliveries are signed.");

const authorizationType = z
  .enum(["bearer", "query"])
  .describe("`bearer`: in the Authorization header. `query`: as `access_token` in the URL's query.");

const origin = z.string().meta({
  description: "The DNS name that stands for you in `WebHook-Request-Origin`.",
  examples: ["hooks.example.com"],
});
const rate = z.int().nullable().describe("Requests per minute that are asked for; null: none in particular.");
const handshake = z.object({
  origin,
  rate,
  state: z
    .enum(["asking", "waiting", "granted", "denied"])
    .describe(
      "`asking`: it is being asked. `waiting`: it was, and can still agree by the callback URL. `granted`: it agreed. `denied`: it did not. Nothing is sent unless it is `granted`.",
    ),
  allowed_rate: z
    .int()
    .nullable()
    .describe("Requests per minute that it allows; null: as many as there are."),
  detail: z.string().nullable().describe("Why it is not granted, in words; null when it is."),
  asked_at: time.nullable().describe("When it was asked last; null: not yet."),
  decided_at: time.nullable().describe("When it agreed or did not; null: not yet."),
});

/** Taken as it is: the library reads it, and zod would drop a field named `__proto__`. */
export const filter = z.unknown().meta({
  id: "Filter",
  type: "object",
  description:
    "What an event must have, besides its type, to be delivered; null: nothing. See the reference of filters.",
  examples: [{ data: { amount: { $gte: 100 } }, subject: { $startsWith: "order-" } }],
});

const filterOrNone = filter
  .nullable()
  .describe(
    "What an event must have, besides its type, to be delivered; null: nothing. See the reference of filters.",
  );

const lastDay = z.object({
  success: z.int().describe("Attempts that were answered with 2xx."),
  failed: z.int().describe("Attempts that were not."),
  success_share: z.number().describe("Of all of them, from 0 to 1."),
  points: z
    .array(
      z.object({
        at: time.describe("When the hour began, in UTC."),
        success: z.int().describe("Attempts of this hour that were answered with 2xx."),
        failed: z.int().describe("Attempts of this hour that were not."),
      }),
    )
    .describe("24 of them, hour by hour, the oldest first; the last one is the hour that has begun."),
});

export const endpoint = z
  .object({
    id: endpointId,
    tenant: tenantId,
    url: z.string().describe("Where deliveries go. Its query is masked without webhooks:manage."),
    description: z.string().nullable().describe("What it is for, in the tenant's words; null without one."),
    events: z
      .array(z.string())
      .describe("Which events it gets: exact types, prefixes such as `order.*`, or `*`."),
    filter: filterOrNone,
    is_active: z.boolean().describe("False: nothing is sent to it, and what is for it is kept."),
    disabled_reason: z
      .string()
      .nullable()
      .describe(
        "`manual`, `gone` (it answered 410), `failures` (too many in a row) or `no_success` (for days); null while it is active.",
      ),
    disabled_at: time.nullable().describe("Since when nothing is sent to it; null while it is active."),
    format,
    signature,
    headers: z
      .record(z.string(), z.string())
      .describe("Headers that are sent besides. The values are masked without webhooks:manage."),
    authorization: z
      .object({ type: authorizationType })
      .nullable()
      .describe("Where the token goes that the receiver knows its sender by, without the token; null: none."),
    handshake: handshake
      .nullable()
      .describe("What it said when it was asked whether it wants webhooks; null: it is not asked."),
    timeout_ms: z.int().describe("Longest time of one attempt, in milliseconds."),
    max_in_flight: z.int().describe("Attempts at a time, across all processes."),
    rate_limit: z
      .int()
      .nullable()
      .describe("Attempts started per second, across all processes; null: no limit."),
    ordering,
    fifo_on_dead: fifoOnDead,
    batch,
    retry_policy: retryPolicy.describe("When a failed delivery is tried again, and how often."),
    retry_on: retryOn,
    circuit: z
      .enum(["closed", "open", "half_open"])
      .describe(
        "`closed`: all is sent. `open`: it failed too often, and nothing is sent for a while. `half_open`: it is being tried.",
      ),
    health: z
      .object({
        consecutive_failures: z.int().describe("Failures in a row since the last success."),
        failing_since: time.nullable().describe("When the first of them was; null without one."),
        last_error: z.string().nullable().describe("What went wrong last; null after a success."),
        probe_at: time.nullable().describe("When an open circuit is tried next; null unless it is open."),
        throttled_until: time
          .nullable()
          .describe("Until when nothing is sent because it answered 429, 502, 503 or 504; null otherwise."),
        last_day: lastDay.nullable().describe("Its attempts of the last 24 hours; null without any."),
      })
      .describe("How it has done since its last success, and in the last day."),
    websub: z
      .object({
        topic: z.string().describe("The topic's URL. Its query is masked without webhooks:manage."),
        lease_ends_at: time.describe("When it ends unless its subscriber renews it."),
      })
      .nullable()
      .describe(
        "Null unless somebody subscribed by WebSub. Such an endpoint can be read and deleted, and is changed by its subscriber alone.",
      ),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: "Endpoint" });
export type Endpoint = z.output<typeof endpoint>;

function orDeployments<Setting extends z.ZodType>(setting: Setting, usual: string) {
  const description = `${setting.description} Null: as the deployment is set, ${usual} unless told.`;
  return setting.nullable().describe(description);
}

export const endpointPatch = z
  .strictObject({
    url: z.string().meta({
      description:
        "Where deliveries go: https, and an address that is reachable from the internet, unless the deployment allows others.",
      examples: ["https://example.com/webhooks"],
    }),
    preset: z
      .enum(["standard-webhooks"])
      .nullable()
      .describe(
        "Fills in settings that go together: `standard-webhooks`, what that standard advises. Those given beside it stay.",
      ),
    description: z
      .string()
      .nullable()
      .meta({ description: "What it is for, in the tenant's words; null takes it away.", maxLength: 500 }),
    events: z.array(z.string()).meta({
      description: "Which events it gets: exact types, prefixes such as `order.*`, or `*` for all.",
      minItems: 1,
      maxItems: 100,
      examples: [["order.paid", "invoice.*"]],
    }),
    is_active: z
      .boolean()
      .describe(
        "False disables it and keeps what it is owed; true enables it and delivers that. A new one is active unless told.",
      ),
    format: orDeployments(format, "`envelope`"),
    signature: orDeployments(
      z.strictObject(signature.shape).partial().describe("How its deliveries are signed, in part or whole."),
      "t-v1 and standard-webhooks, with the prefix X-Webhook",
    ),
    headers: z
      .record(z.string(), z.string())
      .nullable()
      .meta({
        description:
          "Headers that are sent besides: names and values. They cannot replace Posthorn's own; null takes them away.",
        examples: [{ "X-Team": "billing" }],
      }),
    authorization: z
      .strictObject({
        type: authorizationType,
        token: z
          .string()
          .optional()
          .meta({ description: "The token. Left out: the one it has already.", maxLength: 4096 }),
      })
      .nullable()
      .describe(
        "A token that the receiver knows its sender by. It is kept encrypted and shown to nobody; null takes it away.",
      ),
    handshake: z
      .strictObject({
        origin,
        rate: rate.optional(),
        ...handshake.omit({ origin: true, rate: true }).partial().shape,
      })
      .nullable()
      .describe(
        "It is asked by OPTIONS whether it wants webhooks, and gets none until it agreed. What it shows besides `origin` and `rate` is passed over; null: it is not asked.",
      ),
    timeout_ms: orDeployments(
      z.int().describe("Longest time of one attempt, in milliseconds."),
      "10000",
    ).meta({
      minimum: 100,
      maximum: 60_000,
    }),
    max_in_flight: orDeployments(z.int().describe("Attempts at a time, across all processes."), "5").meta({
      minimum: 1,
      maximum: 100,
    }),
    rate_limit: z.int().nullable().meta({
      description: "Attempts started per second, across all processes; null: no limit.",
      minimum: 1,
      maximum: 10_000,
    }),
    retry_policy: retryPolicyInput
      .nullable()
      .describe(
        "When a failed delivery is tried again, and how often. Null: as the deployment is set, `courier` unless told.",
      ),
    retry_on: orDeployments(retryOn, "`transient`"),
    ordering: orDeployments(ordering, "`none`"),
    fifo_on_dead: orDeployments(fifoOnDead, "`pass`"),
    filter: filterOrNone,
    batch: orDeployments(
      z.strictObject(batch.shape).partial().describe(`${batch.description} In part or whole.`),
      "100 events, 512 KiB and one second",
    ),
  })
  .partial()
  .meta({ id: "EndpointPatch" });

/** A secret of one's own can be brought along, but not put in later: that is what rotation is for. */
export const endpointInput = z
  .strictObject({
    ...endpointPatch.shape,
    url: endpointPatch.shape.url.unwrap(),
    events: endpointPatch.shape.events.unwrap(),
    secret: z
      .string()
      .optional()
      .describe(
        "A secret of your own to sign with, `whsec_…` or `whsk_…`, or with a vendor's scheme any text; left out: one is made.",
      ),
    scheme_secrets: z
      .record(z.string(), z.string())
      .optional()
      .meta({
        description: "Secrets of single schemes, by their names; the others sign with `secret`.",
        examples: [{ github: "the secret that its receivers have" }],
      }),
  })
  .meta({ id: "EndpointInput" });

/** What an endpoint shows and nobody sets. */
const readOnly = endpoint
  .pick({
    tenant: true,
    disabled_reason: true,
    disabled_at: true,
    circuit: true,
    health: true,
    websub: true,
    created_at: true,
    updated_at: true,
  })
  .partial();

/** With `id` it changes that endpoint, without it makes one. What a list shows besides is passed over. */
export const endpointImport = z
  .strictObject({
    ...endpointInput.shape,
    ...endpointPatch.shape,
    id: endpointId.optional().describe("Of the endpoint to change; left out: one is made."),
    ...readOnly.shape,
  })
  .meta({ id: "EndpointImport" });
