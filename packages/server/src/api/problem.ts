// Turns errors into RFC 9457 problem details.
import { type ErrorCode, errorRegistry, PosthornError } from "posthorn";
import { isUnavailable, MAX_PROBLEMS } from "posthorn/internal";
import { type FieldError, HttpError, httpErrorRegistry } from "./http-error.ts";
import { apiPointer, apiText } from "./input/names.ts";
import type { Reply } from "./reply.ts";

export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly fieldErrors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  /** Additional members of the problem document. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** An error that carries a complete problem document. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof HttpError) {
    const { status, meaning: title } = httpErrorRegistry[error.code];
    const { code, message: detail, fieldErrors, headers } = error;
    return { status, code, title, detail, fieldErrors, headers };
  }
  if (isPosthornError(error)) {
    return {
      status: error.status,
      code: error.code,
      title: errorRegistry[error.code as ErrorCode]?.meaning ?? error.code,
      // The details of a server error are only logged.
      detail: error.status === 500 ? "The server is not configured for this. See its log." : detailOf(error),
      fieldErrors: fieldErrors(error),
      headers: error.status === 503 ? { "Retry-After": "2" } : {},
    };
  }
  if (isUnavailable(error)) {
    const detail = "The database is unavailable or read-only. Try again in a moment.";
    return problemOf(new PosthornError("database_unavailable", detail));
  }
  return problemOf(
    new HttpError(
      "internal_error",
      "The request failed unexpectedly. Try again; the server log contains the request id.",
    ),
  );
}

/** Replaces advice for users of the library by the equivalent for the HTTP API. */
function detailOf({ code, message }: PosthornError): string {
  if (code === "tenant_not_found")
    return message.replace(/Create it first\.$/, "Create it with PUT /api/v1/tenants/{tenant}.");
  if (code === "endpoint_limit_reached")
    return message.replace("maxEndpointsPerTenant", "POSTHORN_MAX_ENDPOINTS_PER_TENANT");
  if (code === "websub_topic_not_found")
    return message.replace("websub.externalTopics", "POSTHORN_WEBSUB_EXTERNAL_TOPICS");
  return apiText(shortened(message, MAX_DETAIL_LENGTH).replace("; the error's cause says what is wrong", ""));
}

function fieldErrors({ code, problems }: PosthornError): FieldError[] {
  return problems.slice(0, MAX_PROBLEMS).map((problem) => {
    const pointer = apiPointer(shortened(problem.pointer, MAX_ERROR_LENGTH));
    const text = apiText(shortened(problem.message, MAX_ERROR_LENGTH));
    if (code === "invalid_query") return { parameter: pointer.slice(1), message: text };
    return { pointer, message: text };
  });
}

export function problemReply(problem: Problem, instance: string, requestId: string): Reply {
  const body = {
    type: `urn:posthorn:error:${problem.code}`,
    title: problem.title,
    status: problem.status,
    detail: shortened(problem.detail, MAX_DETAIL_LENGTH),
    instance,
    code: problem.code,
    ...(problem.fieldErrors.length > 0 && {
      errors: problem.fieldErrors.slice(0, MAX_PROBLEMS).map(shortenError),
    }),
    ...problem.extensions,
    request_id: requestId,
  };
  return replyOf(problem, "application/problem+json", JSON.stringify(body));
}

/** The problem as plain text, for the WebSub hub. */
export function textReply(problem: Problem): Reply {
  return replyOf(problem, "text/plain; charset=utf-8", `${shortened(problem.detail, MAX_DETAIL_LENGTH)}\n`);
}

function replyOf({ status, code, headers: given }: Problem, contentType: string, body: string): Reply {
  const headers = Object.entries(given).flat();
  return { status, contentType, body, headers, closesConnection: code === "body_too_large" };
}

/** Messages quote names from the request, which may be as long as the body. */
const MAX_DETAIL_LENGTH = 4_000;
const MAX_ERROR_LENGTH = 500;

function shortenError(place: FieldError): FieldError {
  const parts = Object.entries(place).map(([name, text]) => [name, shortened(text, MAX_ERROR_LENGTH)]);
  return Object.fromEntries(parts);
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** Checks the shape, because an application may load another copy of the library. */
export function isPosthornError(error: unknown): error is PosthornError {
  return error instanceof Error && error.name === "PosthornError" && "status" in error && "problems" in error;
}
