// What several resources are made of. Limits stand here for the reader of the schema; the library is what keeps them.
import { z } from "zod";

export const time = z.string().meta({ format: "date-time", examples: ["2026-11-15T09:30:00.000Z"] });
/** Of every resource that keeps them. */
export const createdAt = time.describe("When it was made, in UTC.");
export const updatedAt = time.describe("When it was changed last, in UTC.");

/** A name of the caller's own. */
const ownId = { pattern: "^(?!\\.{1,2}$)[A-Za-z0-9_.:@-]{1,128}$" };
export const tenantId = z.string().meta({
  ...ownId,
  description: "A tenant, by your own id: 1 to 128 of `A-Z a-z 0-9 _ . : @ -`.",
  examples: ["acme"],
});
export const userId = z.string().meta({
  ...ownId,
  description: "A user, by your own id: 1 to 128 of `A-Z a-z 0-9 _ . : @ -`.",
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
export const deliveryId = prefixed("dlv", "Id of the delivery: one for each event and endpoint.");
export const secretId = prefixed("sec", "Id of a secret. It is no secret itself.");
export const replayId = prefixed("rpl", "Id of the replay.");
export const keyId = z.string().meta({
  description: "Id of the key or token. It is no secret: the key itself is shown once, when it is made.",
  examples: ["4kQ9d0Zx1B"],
});

export const linkId = z.string().meta({
  description: "Id of a portal link, and of the session that it opens. It is no secret.",
  examples: ["4kQ9d0Zx1B"],
});

export const eventType = z.string().meta({
  description: "Type of the event: words of `a-z 0-9 _` joined by dots.",
  maxLength: 128,
  pattern: "^[a-z0-9_]+(\\.[a-z0-9_]+)*$",
  examples: ["order.paid"],
});

/** Every list takes these. */
export const pageQuery = z.object({
  limit: z.int().min(1).max(250).default(50).describe("Items on a page at most."),
  cursor: z
    .string()
    .min(1)
    .optional()
    .describe("`next_cursor` of the page before; left out: the first page."),
});

export function listQuery<Shape extends z.ZodRawShape>(filters: Shape) {
  return z.object({ ...filters, ...pageQuery.shape });
}

/** A moment to compare with: a time with its zone, or a day. */
const timeFilter = (description: string) =>
  z
    .string()
    .refine(isTime, { error: "must be a time such as 2026-11-15T09:30:00Z" })
    .meta({ format: "date-time" })
    .optional()
    .describe(`${description} A time with its zone, or a day.`);
export const createdAfter = timeFilter("Only what was created at this time or later.");
export const createdBefore = timeFilter("Only what was created before this time.");
export const resentAfter = timeFilter("Only what was sent again at this time or later.");

const ISO_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

function isTime(text: string): boolean {
  return ISO_TIME.test(text) && !Number.isNaN(Date.parse(text)) && isDay(text.slice(0, 10));
}

/** JavaScript takes the 30th of February for the 2nd of March. */
function isDay(day: string): boolean {
  return new Date(day).toISOString().startsWith(day);
}

/** Some text to look for. */
const textFilter = (description: string) => z.string().min(1).optional().describe(description);
export const tenantFilter = textFilter("Only of this tenant. A key of one tenant sees no other anyway.");
export const endpointFilter = textFilter("Only of the endpoint with this id.");
export const typeFilter = textFilter("Only of this event type, in full.");
export const subjectFilter = textFilter("Only of this subject, in full.");
export const reasonFilter = textFilter(
  "Only the dead with this `dead_reason`, such as `attempts_exhausted`.",
);
export const actionFilter = textFilter("Only of this operation, such as `endpoints.update`.");

export function page<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item).describe("The items of this page."),
    next_cursor: z.string().nullable().describe("Send it as `cursor` for the next page; null on the last."),
  });
}

/** A body without fields. */
export const nothing = z.strictObject({});

/** What a refused request is answered with: RFC 9457. */
export const problem = z
  .object({
    type: z.string().describe("URI of this kind of problem."),
    title: z.string().describe("What kind of problem it is, in a sentence that is the same for every one."),
    status: z.int().describe("The HTTP status, once more."),
    detail: z.string().describe("What happened and what to do about it, for people."),
    instance: z.string().describe("The path that was asked for."),
    code: z
      .string()
      .describe("What kind of problem it is, for programs. Stable; see the reference of errors."),
    errors: z
      .array(
        z.object({
          pointer: z.string().optional().describe("JSON Pointer to the wrong place in the body."),
          parameter: z.string().optional().describe("Name of the wrong parameter in the URL."),
          header: z.string().optional().describe("Name of the wrong header of the request."),
          message: z.string().describe("What is wrong there, and what would be right."),
        }),
      )
      .optional()
      .describe("Each wrong place, where there are some to name."),
    request_id: z.string().describe("Stands in the server's log beside what happened."),
  })
  .meta({ id: "Problem", description: "What a refused request is answered with: RFC 9457." });

/** What stands in braces in a path. */
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
};
