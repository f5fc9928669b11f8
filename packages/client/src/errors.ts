// A refused call as an error: the server's problem document, with its stable code.
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

/** There was no answer: nobody listens there, the name does not resolve, or the connection broke. `cause` says more. */
export class PosthornConnectionError extends Error {
  override readonly name = "PosthornConnectionError";
  /** Where the server was looked for. */
  readonly url: string;

  constructor(url: string, cause: unknown) {
    super(
      `The server at ${url} did not answer (${reasonOf(cause)}). Check that it runs there, and the url.`,
      {
        cause,
      },
    );
    this.url = url;
  }
}

/** `ECONNREFUSED`; fetch says only that it failed, and its cause says why. */
function reasonOf(error: unknown): string {
  const { cause, code, message } = error as { cause?: unknown; code?: string; message?: string };
  return cause === undefined ? (code ?? message ?? String(error)) : reasonOf(cause);
}

/** Something between us and the server may answer in words of its own. */
export async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text();
  try {
    const given: unknown = JSON.parse(text);
    // with what some problems have besides, such as the results of a batch
    if (isProblem(given)) return given;
  } catch {
    // words of somebody else's
  }
  return unexpected(response, "no problem document of Posthorn's");
}

/** By hand, and not by its schema: a browser has none. */
function isProblem(given: unknown): given is Problem {
  const { status, errors, ...texts } = (given ?? {}) as Partial<Problem>;
  const { type, title, detail, instance, code, request_id } = texts;
  return (
    [type, title, detail, instance, code, request_id].every((text) => typeof text === "string") &&
    Number.isInteger(status) &&
    (errors === undefined || (Array.isArray(errors) && errors.every(isPlace)))
  );
}

function isPlace(given: unknown): boolean {
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
    detail: `The answer was ${status} ${statusText}, and ${what}.`,
    instance: "",
    code: "unexpected_answer",
    request_id: "",
  };
}
