import { PosthornApiError, type Problem } from "@posthorn/client/web";
import { expect, test } from "vitest";
import { problemsOf } from "./problems.ts";

const refusal = (errors: Problem["errors"]) =>
  new PosthornApiError({ status: 422, code: "invalid_endpoint", ...(errors && { errors }) } as Problem);

test("a field shows its problems and those below it", () => {
  const problems = problemsOf(
    refusal([
      { pointer: "/events/0", message: "This is no type." },
      { pointer: "/events/2", message: "Nor is this." },
      { pointer: "/url", message: "Use https." },
    ]),
  );
  expect(problems.at("/events")).toBe("This is no type. Nor is this.");
  expect(problems.at("/url")).toBe("Use https.");
  expect(problems.at("/event")).toBeUndefined();
});

test("problems without a field are listed", () => {
  const problems = problemsOf(
    refusal([
      { pointer: "/url", message: "Use https." },
      { pointer: "/colour", message: "There is no such field." },
      { message: "Something else." },
    ]),
  );
  expect(problems.elsewhere(["/url"])).toEqual(["/colour: There is no such field.", "Something else."]);
});

test.each([null, new Error("offline"), refusal(undefined)])(
  "an error without pointers belongs to no field: %s",
  (error) => {
    const problems = problemsOf(error);
    expect([problems.at("/url"), problems.elsewhere([])]).toEqual([undefined, []]);
  },
);
