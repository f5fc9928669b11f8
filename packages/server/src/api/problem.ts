// Errors as RFC 9457 problem details: one shape for everything that is refused.

import { snakeCase } from "@posthorn/wire";
import { type ErrorCode, errorRegistry, type PosthornError } from "posthorn";
import { isUnavailable, MAX_PROBLEMS } from "posthorn/internal";
import { type FieldError, HttpError, httpErrorRegistry } from "./http-error.ts";
import { OPAQUE_FIELDS } from "./input/names.ts";
import type { Reply } from "./reply.ts";

export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly places: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  /** Members beyond the standard ones. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** For a refusal that has more to say than an error can carry. */
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
    const { code, message: detail, places, headers } = error;
    return { status, code, title, detail, places, headers };
  }
  if (isPosthornError(error)) {
    return {
      status: error.status,
      code: error.code,
      title: errorRegistry[error.code as ErrorCode]?.meaning ?? error.code,
      // A fault of ours is for the log; the caller gets its code.
      detail:
        error.status === 500 ? "The server is not set up to do this. Its log says more." : detailOf(error),
      places: fieldErrors(error),
      headers: error.status === 503 ? { "Retry-After": "2" } : {},
    };
  }
  if (isUnavailable(error)) return databaseUnavailable();
  return problemOf(
    new HttpError(
      "internal_error",
      "The request could not be handled. Try again; the log has the request id.",
    ),
  );
}

/** What the library tells a programmer to do is done otherwise over HTTP. */
function detailOf({ code, message }: PosthornError): string {
  if (code === "tenant_not_found")
    return message.replace(/Make it first\.$/, "Make it with PUT /api/v1/tenants/{tenant}.");
  if (code === "endpoint_limit_reached")
    return message.replace("maxEndpointsPerTenant", "POSTHORN_MAX_ENDPOINTS_PER_TENANT");
  if (code === "websub_topic_not_found")
    return message.replace("websub.externalTopics", "POSTHORN_WEBSUB_EXTERNAL_TOPICS");
  return apiText(shortened(message, MAX_DETAIL_LENGTH).replace("; the error's cause says what is wrong", ""));
}

function fieldErrors({ code, problems }: PosthornError): FieldError[] {
  return problems.slice(0, MAX_PROBLEMS).map((problem) => {
    const pointer = apiPointer(shortened(problem.pointer, MAX_ERROR_LENGTH));
    const said = apiText(shortened(problem.message, MAX_ERROR_LENGTH));
    if (code === "invalid_query") return { parameter: pointer.slice(1), message: said };
    return { pointer, message: said };
  });
}

function databaseUnavailable(): Problem {
  const { status, meaning } = errorRegistry.database_unavailable;
  const detail = "The database cannot be reached or takes no writes right now. Try again in a moment.";
  const headers = { "Retry-After": "2" };
  return { status, code: "database_unavailable", title: meaning, detail, places: [], headers };
}

export function problemReply(problem: Problem, instance: string, requestId: string): Reply {
  const body = {
    type: `urn:posthorn:error:${problem.code}`,
    title: problem.title,
    status: problem.status,
    detail: shortened(problem.detail, MAX_DETAIL_LENGTH),
    instance,
    code: problem.code,
    ...(problem.places.length > 0 && { errors: problem.places.slice(0, MAX_PROBLEMS).map(shortenError) }),
    ...problem.extensions,
    request_id: requestId,
  };
  return {
    status: problem.status,
    contentType: "application/problem+json",
    body: JSON.stringify(body),
    headers: Object.entries(problem.headers).flat(),
    ...(problem.code === "body_too_large" && { closesConnection: true }),
  };
}

/** The same as a sentence, for those who speak a protocol that has no problem documents. */
export function textReply({ status, code, detail, headers }: Problem): Reply {
  return {
    status,
    contentType: "text/plain; charset=utf-8",
    body: `${shortened(detail, MAX_DETAIL_LENGTH)}\n`,
    headers: Object.entries(headers).flat(),
    ...(code === "body_too_large" && { closesConnection: true }),
  };
}

/** What is wrong is said with the caller's own names in it, and those may be as long as the body. */
const MAX_DETAIL_LENGTH = 4_000;
const MAX_ERROR_LENGTH = 500;

function shortenError(place: FieldError): FieldError {
  const message = shortened(place.message, MAX_ERROR_LENGTH);
  if ("pointer" in place) return { pointer: shortened(place.pointer, MAX_ERROR_LENGTH), message };
  return "header" in place
    ? { header: shortened(place.header, MAX_ERROR_LENGTH), message }
    : { parameter: shortened(place.parameter, MAX_ERROR_LENGTH), message };
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** By shape, since an application may hold another copy of the library than we do. */
export function isPosthornError(error: unknown): error is PosthornError {
  return error instanceof Error && error.name === "PosthornError" && "status" in error && "problems" in error;
}

/** The library speaks camelCase, the API snake_case; below some fields the names are the caller's own. */
export function apiPointer(pointer: string): string {
  const parts = pointer.split("/");
  const ownFrom = parts.findIndex((part) => OPAQUE_FIELDS.has(part));
  return parts.map((part, at) => (ownFrom === -1 || at < ownFrom ? snakeCase(part) : part)).join("/");
}

/**
 * A sentence of the library in the names of the API: outside quotation marks, where a caller's own words are, a pointer
 * is one of the API's, and a word in camelCase is a field unless a dollar makes it an operator.
 */
export function apiText(message: string): string {
  return message.replace(/"[^"]*"|(?<=^|\s)\/[^\s":]+|(?<![$\w])[a-z]+(?:[A-Z][a-z0-9]*)+\b/g, (part) => {
    if (part.startsWith('"')) return part;
    return part.startsWith("/") ? apiPointer(part) : snakeCase(part);
  });
}
