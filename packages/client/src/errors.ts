// Errors of calls: a problem document of the server, or no response.
import type { z } from "zod";
import type { problem } from "./contract/parts.ts";

export type Problem = z.output<typeof problem>;

export class PosthornApiError extends Error {
  override readonly name = "PosthornApiError";
  readonly problem: Problem;

  constructor(given: Problem) {
    super(given.detail);
    this.problem = given;
  }

  get code(): string {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }
}

/** There was no response, because the server is unreachable or the connection broke. `cause` has the details. */
export class PosthornConnectionError extends Error {
  override readonly name = "PosthornConnectionError";
  /** URL of the server. */
  readonly url: string;

  constructor(url: string, cause: unknown) {
    super(
      `The server at ${url} did not respond (${reasonOf(cause)}). Check that it is running, and the URL.`,
      {
        cause,
      },
    );
    this.url = url;
  }
}

/** Returns a code such as `ECONNREFUSED`, which is in the innermost cause of the error of `fetch`. */
function reasonOf(error: unknown): string {
  const { cause, code, message } = error as { cause?: unknown; code?: string; message?: string };
  return cause === undefined ? (code ?? message ?? String(error)) : reasonOf(cause);
}

/** Reads the problem document. Proxies may return other bodies. */
export async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text();
  try {
    const given: unknown = JSON.parse(text);
    // includes additional fields, such as the results of a batch
    if (isProblem(given)) return given;
  } catch {
    // not JSON
  }
  return unexpected(response, "it is not a problem document of Posthorn");
}

/** Checks without the schema, which browsers do not load. */
function isProblem(given: unknown): given is Problem {
  const { status, errors, ...texts } = (given ?? {}) as Partial<Problem>;
  const { type, title, detail, instance, code, request_id } = texts;
  return (
    [type, title, detail, instance, code, request_id].every((text) => typeof text === "string") &&
    Number.isInteger(status) &&
    (errors === undefined || (Array.isArray(errors) && errors.every(isFieldError)))
  );
}

function isFieldError(given: unknown): boolean {
  const { message, pointer, parameter, header } = (given ?? {}) as Record<string, unknown>;
  const isTextOrNone = (value: unknown) => value === undefined || typeof value === "string";
  return typeof message === "string" && [pointer, parameter, header].every(isTextOrNone);
}

export function unexpected(
  { status, statusText }: Pick<Response, "status" | "statusText">,
  what: string,
): Problem {
  return {
    type: "about:blank",
    title: statusText,
    status,
    detail: `Unexpected response ${status} ${statusText}: ${what}.`,
    instance: "",
    code: "unexpected_response",
    request_id: "",
  };
}
