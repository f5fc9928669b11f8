// Parses and checks responses, so that a response of another program is reported as an error.
import type { z } from "zod";
import { PosthornApiError, unexpected } from "./errors.ts";

type Received = Pick<Response, "status" | "statusText">;

/** Parses a response, and checks it against the schema if there is one. Keeps fields that a later version added. */
export function parseResponse(response: Received, text: string, schema: z.ZodType | null): unknown {
  const body = parseJson(response, text);
  const result = schema?.safeParse(body);
  const mismatch = result?.success === false ? mismatchOf(result.error.issues) : null;
  if (mismatch === null) return body;
  const what = `it does not match the API of this client (at ${mismatch}). Check that the URL is a Posthorn server of this version`;
  throw new PosthornApiError(unexpected(response, what));
}

/** Throws if a page links to itself, which would make a caller read it forever. */
export function rejectRepeatedPage(response: Received, cursor: unknown, body: unknown): void {
  const { next_cursor } = (body ?? {}) as { next_cursor?: unknown };
  if (typeof cursor === "string" && next_cursor === cursor) throw repeatedPageError(response);
}

export function repeatedPageError(response: Received): PosthornApiError {
  return new PosthornApiError(unexpected(response, "a page was repeated. Read the list again"));
}

function parseJson(response: Received, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PosthornApiError(
      unexpected(response, "it is not JSON. Check that the URL is a Posthorn server"),
    );
  }
}

/** Returns a pointer to the first mismatch. Unknown enum values are accepted, because a later version may add them. */
function mismatchOf(issues: readonly z.core.$ZodIssue[]): string | null {
  for (const issue of issues) {
    if (issue.code === "invalid_value") continue;
    if (issue.code === "invalid_union" && issue.errors.some((branch) => mismatchOf(branch) === null))
      continue;
    return `/${issue.path.map(String).join("/")}`;
  }
  return null;
}
