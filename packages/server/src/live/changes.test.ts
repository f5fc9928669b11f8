import { expect, test } from "vitest";
import { ChangeFinder, type DeliveryView, LOOK_AT } from "./changes.ts";

function delivery(id: string, given: Partial<DeliveryView> = {}): DeliveryView {
  return {
    id,
    state: "pending",
    attemptCount: 0,
    replayCount: 0,
    nextRetryAt: null,
    createdAt: new Date(1_000),
    ...given,
  } as DeliveryView;
}

const ids = ({ deliveries }: { readonly deliveries: readonly DeliveryView[] }) =>
  deliveries.map(({ id }) => id);

test("the first look tells of what is newer than the stream, oldest first", () => {
  const newestFirst = [
    delivery("c", { createdAt: new Date(3_000) }),
    delivery("b", { createdAt: new Date(2_000) }),
    delivery("a"),
  ];
  expect(ids(new ChangeFinder().compare(newestFirst, new Date(2_000)))).toEqual(["b", "c"]);
});

test("later looks tell of what is new and of what has come further, once", () => {
  const finder = new ChangeFinder();
  finder.compare([delivery("b"), delivery("a")], null);
  const look = [delivery("c"), delivery("b", { state: "success", attemptCount: 1 }), delivery("a")];
  expect(ids(finder.compare(look, null))).toEqual(["b", "c"]);
  expect(ids(finder.compare(look, null))).toEqual([]);
});

test("a look that knows nothing of what it sees says that there was more", () => {
  const finder = new ChangeFinder();
  finder.compare([delivery("old")], null);
  const many = Array.from({ length: LOOK_AT }, (_, index) => delivery(`d${index}`));
  expect(finder.compare(many, null).isPartial).toBe(true);
  expect(finder.compare(many.slice(1), null).isPartial).toBe(false);
});
