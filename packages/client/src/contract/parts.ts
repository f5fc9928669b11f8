// The vocabulary of the contract: fields with their descriptions, and schemas that several resources share. Limits are
// documentation; the library enforces them.
import { ROLE_SCOPES, type Role, SECRET_ENCODINGS } from "@posthorn/wire";
import { z } from "zod";

export const text = (description: string) => z.string().describe(description);
export const int = (description: string) => z.int().describe(description);
export const flag = (description: string) => z.boolean().describe(description);
export const choice = <const Values extends readonly string[]>(values: Values, description: string) =>
  z.enum(values).describe(description);
/** `more` has limits and examples. */
export const list = <Item extends z.ZodType>(item: Item, description: string, more: object = {}) =>
  z.array(item).meta({ description, ...more });
export const textMap = (description: string) => z.record(z.string(), z.string()).describe(description);
export const nullable = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  schema.nullable().describe(description);
export const optional = <Schema extends z.ZodType>(schema: Schema, description: string, more: object = {}) =>
  schema.optional().meta({ description, ...more });
/** A field of a request that may be left out or null. */
export const nullish = <Schema extends z.ZodType>(schema: Schema, description: string, more: object = {}) =>
  schema
    .nullable()
    .optional()
    .meta({ description, ...more });

/** An object that is a component of the OpenAPI document, with this id. */
export const component = <Shape extends z.ZodRawShape>(id: string, shape: Shape) =>
  z.object(shape).meta({ id });
/** A component that rejects unknown fields. */
export const inputComponent = <Shape extends z.ZodRawShape>(id: string, shape: Shape) =>
  z.strictObject(shape).meta({ id });
/** An object within a component. */
export const group = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  z.object(shape).describe(description);

/** A field of a request that is false if it is left out. */
export const optionalFlag = (description: string) => optional(z.boolean(), description, { default: false });
/** A number of a request with its limits and default. */
export const optionalInt = (
  description: string,
  limits: Readonly<Record<"minimum" | "maximum" | "default", number>>,
) => optional(z.int(), description, limits);

const successRateText = "Success rate: the share of the period's attempts that succeeded, from 0 to 1.";
export const successRate = z.number().describe(successRateText);
export const nullableSuccessRate = nullable(z.number(), `${successRateText} Null without attempts.`);

export const time = z.string().meta({ format: "date-time", examples: ["2026-11-15T09:30:00.000Z"] });
export const nullableTime = (description: string) => nullable(time, description);
export const nullableText = (description: string) => nullable(z.string(), description);
export const optionalText = (description: string, more: object = {}) =>
  optional(z.string(), description, more);
export const nullishText = (description: string, more: object = {}) => nullish(z.string(), description, more);
export const nullableInt = (description: string) => nullable(z.int(), description);
export const role = z.enum(Object.keys(ROLE_SCOPES) as [Role, ...Role[]]);
export const secretEncoding = z.enum(SECRET_ENCODINGS);
export const createdAt = time.describe("When it was created, in UTC.");
export const updatedAt = time.describe("When it was last updated, in UTC.");

/** Format of ids that the caller chooses. */
const ownId = { pattern: "^(?!\\.{1,2}$)[A-Za-z0-9_.:@-]{1,128}$" };
export const tenantId = z.string().meta({
  ...ownId,
  description: "Id of the tenant in your system: 1 to 128 of `A-Z a-z 0-9 _ . : @ -`.",
  examples: ["acme"],
});
export const userId = z.string().meta({
  ...ownId,
  description: "Id of the user in your system: 1 to 128 of `A-Z a-z 0-9 _ . : @ -`.",
  examples: ["user-17"],
});

const prefixed = (prefix: string, description: string) =>
  z.string().meta({
    description,
    pattern: `^${prefix}_`,
    examples: [`${prefix}_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10`],
  });
export const eventId = prefixed("evt", "Id of the event; ids sort by time.");
export const endpointId = prefixed("ep", "Id of the endpoint.");
export const deliveryId = prefixed("dlv", "Id of the delivery.");
export const editedFrom = nullable(
  eventId,
  "Id of the event of which this is a copy with edited data. Null for other events.",
);
export const secretId = prefixed("sec", "Id of the secret, which is not secret itself.");
export const sourceName = z.string().meta({
  description: "Name of the source in the configuration.",
  examples: ["shop"],
});
export const replayId = prefixed("rpl", "Id of the replay.");
export const keyId = z.string().meta({
  description: "Id of the key or token, which is not secret itself.",
  examples: ["4kQ9d0Zx1B"],
});

export const linkId = z.string().meta({
  description: "Id of the portal link and of its session, which is not secret itself.",
  examples: ["4kQ9d0Zx1B"],
});

export const eventType = z.string().meta({
  description: "Type of the event: words of `a-z 0-9 _` joined by dots.",
  maxLength: 128,
  pattern: "^[a-z0-9_]+(\\.[a-z0-9_]+)*$",
  examples: ["order.paid"],
});

/** Query parameters of every list. */
export const pageQuery = z.object({
  limit: z.int().min(1).max(250).default(50).describe("Maximum number of items on a page."),
  cursor: z
    .string()
    .min(1)
    .optional()
    .describe("`next_cursor` of the previous page. Defaults to the first page."),
});

export function listQuery<Shape extends z.ZodRawShape>(filters: Shape) {
  return z.object({ ...filters, ...pageQuery.shape });
}

const timeFilter = (description: string) =>
  z
    .string()
    .refine(isTime, { error: "must be a time such as 2026-11-15T09:30:00Z" })
    .meta({ format: "date-time" })
    .optional()
    .describe(`${description} A time with a time zone, or a day.`);
export const createdAfter = timeFilter("Only items created at this time or later.");
export const createdBefore = timeFilter("Only items created before this time.");
export const deadBefore = timeFilter("Only dead letters that were dead before this time.");
export const rejectedBefore = timeFilter("Only events that were rejected before this time.");
export const startAt = timeFilter(
  "When to start, at most 90 days ahead; by default at once. What matches is decided then.",
);
export const resentAfter = timeFilter("Only deliveries sent again at this time or later.");

const ISO_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

function isTime(text: string): boolean {
  return ISO_TIME.test(text) && !Number.isNaN(Date.parse(text)) && isDay(text.slice(0, 10));
}

/** Rejects days such as February 30, which JavaScript parses as March 2. */
function isDay(day: string): boolean {
  return new Date(day).toISOString().startsWith(day);
}

export const textFilter = (description: string) => z.string().min(1).optional().describe(description);
export const tenantFilter = textFilter("Only items of this tenant.");
export const endpointFilter = textFilter("Only items of the endpoint with this id.");
export const typeFilter = textFilter("Only items of exactly this event type.");
export const subjectFilter = textFilter("Only items of exactly this subject.");
export const reasonFilter = textFilter(
  "Only dead letters with this `dead_reason`, such as `attempts_exhausted`.",
);
export const actionFilter = textFilter("Only entries of this operation, such as `endpoints.update`.");

export function page<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: list(item, "The items of this page."),
    next_cursor: nullableText("`cursor` of the next page. Null on the last page."),
  });
}

/** The body of error responses: RFC 9457. */
export const problem = z
  .object({
    type: text("URI of the error code."),
    title: text("Title of the error code."),
    status: int("The HTTP status."),
    detail: text("What happened and what to do next."),
    instance: text("Path of the request."),
    code: text("Stable error code; see the error reference."),
    errors: z
      .array(
        z.object({
          pointer: optionalText("JSON Pointer to the invalid field in the body."),
          parameter: optionalText("Name of the invalid parameter."),
          header: optionalText("Name of the invalid header."),
          message: text("What is wrong, and what is valid."),
        }),
      )
      .optional()
      .describe("The invalid fields, parameters and headers."),
    request_id: text("Id of the request, as in the server's log."),
  })
  .meta({ id: "Problem", description: "The body of error responses (RFC 9457)." });

/** Schemas of the path parameters. */
export const pathParams: Readonly<Record<string, z.ZodType>> = {
  tenant: tenantId,
  user: userId,
  endpoint: endpointId,
  event: eventId,
  delivery: deliveryId,
  replay: replayId,
  key: keyId,
  name: eventType,
  link: linkId,
  secret: secretId,
  source: sourceName,
};
