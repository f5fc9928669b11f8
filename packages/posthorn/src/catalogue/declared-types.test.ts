// Type checks of event types in code. tsc compiles this file with the suite: a line that should not
// compile and does is an error there.
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  createPosthorn,
  event,
  type Posthorn,
  type PublishResult,
  type UserPublishResult,
} from "../index.ts";

const hooks = createPosthorn({
  database: "postgres://127.0.0.1:1/never-asked",
  events: {
    "order.paid": event({ schema: z.object({ total: z.coerce.number(), at: z.date().optional() }) }),
    "order.sent": event({ schema: { type: "object" } }),
  },
});
/** Never called: it only has to compile. */
const compiled = (work: () => unknown): void => {
  expectTypeOf(work).toBeFunction();
};

describe("with types in code", () => {
  test("data has the input type of the schema", () => {
    compiled(() => hooks.publish({ tenant: "acme", type: "order.paid", data: { total: "12" } }));
    // @ts-expect-error the schema needs a total
    compiled(() => hooks.publish({ tenant: "acme", type: "order.paid", data: {} }));
    // @ts-expect-error at is a Date
    compiled(() => hooks.publish({ tenant: "acme", type: "order.paid", data: { total: 1, at: "now" } }));
    // @ts-expect-error data is needed
    compiled(() => hooks.publish({ tenant: "acme", type: "order.paid" }));
  });

  test("a type that is not declared does not compile", () => {
    // @ts-expect-error it is order.paid
    compiled(() => hooks.publish({ tenant: "acme", type: "order.piad", data: { total: 1 } }));
    // @ts-expect-error neither in a list
    compiled(() => hooks.publishMany([{ tenant: "acme", type: "order.piad", data: { total: 1 } }]));
    compiled(() => hooks.publish({ tenant: "acme", type: "order.sent", data: { any: "thing" } }));
  });

  test("the result type depends on tenant or user", () => {
    compiled(() => {
      const one = hooks.publish({ tenant: "acme", type: "order.paid", data: { total: 1 } });
      const many = hooks.publish({ user: "anna", type: "order.paid", data: { total: 1 } });
      expectTypeOf(one).resolves.toEqualTypeOf<PublishResult>();
      expectTypeOf(many).resolves.toEqualTypeOf<UserPublishResult>();
    });
    // @ts-expect-error one of the two
    compiled(() => hooks.publish({ type: "order.paid", data: { total: 1 } }));
  });

  test("it can be passed as a Posthorn", () => {
    const taken: Posthorn = hooks;
    expectTypeOf(taken).toEqualTypeOf<Posthorn>();
  });
});

test("without types in code any event compiles", () => {
  const open = createPosthorn({ database: "postgres://127.0.0.1:1/never-asked" });
  compiled(() => open.publish({ tenant: "acme", type: "made.up", data: 1 }));
  compiled(() => open.publish({ tenant: "acme", type: "made.up", rawData: Buffer.from("1") }));
  expectTypeOf(open).toEqualTypeOf<Posthorn>();
});
