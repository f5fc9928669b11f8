import { expect, test } from "vitest";
import { refuseUnknown } from "./did-you-mean.ts";

test("an unknown name is refused with its place and a suggestion, a known one is not", () => {
  refuseUnknown("A rotation has no option", { overlapSeconds: 0 }, ["overlapSeconds", "secret"]);
  refuseUnknown("A rotation has no option", {}, ["overlapSeconds", "secret"]);
  const message = 'A rotation has no option "overlap_seconds". Did you mean overlapSeconds?';
  expect(() =>
    refuseUnknown("A rotation has no option", { overlap_seconds: 0 }, ["overlapSeconds"], "invalid_endpoint"),
  ).toThrow(
    expect.objectContaining({
      code: "invalid_endpoint",
      message,
      problems: [{ pointer: "/overlap_seconds", message }],
    }),
  );
});

test("anything but an object is rejected in place of options", () => {
  for (const given of [null, "api", 5]) {
    expect(() => refuseUnknown("start has no option", given as never, ["role"])).toThrow(
      `start has no option "${given}": pass an object. Expected one of: role.`,
    );
  }
});

test("at most 20 unknown names are reported", () => {
  const many = Array.from({ length: 21 }, (_, n) => [`name_${n}`, 1]);
  expect(() => refuseUnknown("start has no option", Object.fromEntries(many), ["role"])).toThrow(
    expect.objectContaining({ problems: expect.objectContaining({ length: 20 }) }),
  );
});
