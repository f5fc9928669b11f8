// What several resources are made of. Limits stand here for the reader of the schema; the library is what keeps them.
import { z } from "zod";

export const time = z.string().meta({ format: "date-time", examples: ["2026-11-15T09:30:00.000Z"] });

/** A name of the caller's own. */
const ownId = { pattern: "^(?!\\.{1,2}$)[A-Za-z0-9_.:@-]{1,128}$" };
export const tenantId = z.string().meta({ ...ownId, examples: ["acme"] });
export const userId = z.string().meta({ ...ownId, examples: ["user-17"] });

const prefixed = (prefix: string) =>
  z.string().meta({ pattern: `^${prefix}_`, examples: [`${prefix}_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10`] });
export const eventId = prefixed("evt");
export const endpointId = prefixed("ep");
export const deliveryId = prefixed("dlv");
export const replayId = prefixed("rpl");

export const eventType = z.string().meta({
  maxLength: 128,
  pattern: "^[a-z0-9_]+(\\.[a-z0-9_]+)*$",
  examples: ["order.paid"],
});

/** Every list takes these. */
export const pageQuery = z.object({
  limit: z.int().min(1).max(250).default(50),
  cursor: z.string().min(1).optional(),
});

export function listQuery<Shape extends z.ZodRawShape>(filters: Shape) {
  return z.object({ ...filters, ...pageQuery.shape });
}

/** A moment to compare with: a time with its zone, or a day. */
export const timeFilter = z
  .string()
  .refine(isTime, { error: "must be a time such as 2026-11-15T09:30:00Z" })
  .meta({ format: "date-time" })
  .optional();

const ISO_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

function isTime(text: string): boolean {
  return ISO_TIME.test(text) && !Number.isNaN(Date.parse(text));
}

/** Some text to look for. */
export const textFilter = z.string().min(1).optional();

export function page<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    next_cursor: z.string().nullable().describe("Send it as `cursor` for the next page; null on the last."),
  });
}

/** A body without fields. */
export const nothing = z.strictObject({});

/** What a refused request is answered with: RFC 9457. */
export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z.string().describe("Stable; see the reference of errors."),
    errors: z
      .array(
        z.object({ pointer: z.string().optional(), parameter: z.string().optional(), message: z.string() }),
      )
      .optional(),
    request_id: z.string(),
  })
  .meta({ id: "Problem" });
