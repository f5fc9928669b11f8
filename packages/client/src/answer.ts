// What came back, held against the contract: a page of somebody else's, or a server that lost its mind, is an error like
// any other and never a surprise further on.
import type { z } from "zod";
import { PosthornApiError, unexpected } from "./errors.ts";

type Received = Pick<Response, "status" | "statusText">;

/** The JSON of an answer. With a schema it has to fit, and comes as it is: fields that a later version added stay. */
export function parseAnswer(response: Received, text: string, schema: z.ZodType | null): unknown {
  const answer = parseJson(response, text);
  const result = schema?.safeParse(answer);
  const misfit = result?.success === false ? misfitOf(result.error.issues) : null;
  if (misfit === null) return answer;
  const what = `not what this client expects (at ${misfit}). Check that the URL is that of a Posthorn server of this version`;
  throw new PosthornApiError(unexpected(response, what));
}

/** Whoever reads page after page would read the same one for ever. */
export function refuseSamePage(response: Received, cursor: unknown, answer: unknown): void {
  const { next_cursor } = (answer ?? {}) as { next_cursor?: unknown };
  if (typeof cursor === "string" && next_cursor === cursor) throw beginsAgain(response);
}

export function beginsAgain(response: Received): PosthornApiError {
  return new PosthornApiError(
    unexpected(response, "a page that was there before comes again. Ask for the list anew"),
  );
}

function parseJson(response: Received, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PosthornApiError(
      unexpected(response, "no JSON. Check that the URL is that of a Posthorn server"),
    );
  }
}

/** A pointer to the first place that does not fit. One of several choices that a later version added is no misfit. */
function misfitOf(issues: readonly z.core.$ZodIssue[]): string | null {
  for (const issue of issues) {
    if (issue.code === "invalid_value") continue;
    if (issue.code === "invalid_union" && issue.errors.some((branch) => misfitOf(branch) === null)) continue;
    return `/${issue.path.map(String).join("/")}`;
  }
  return null;
}
