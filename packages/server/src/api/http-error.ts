// Registry of the errors of the HTTP layer: a stable code, the status and the meaning. The detail of an instance says
// what happened and what to do.
import { MAX_PROBLEMS } from "posthorn/internal";

export const httpErrorRegistry = {
  malformed_request: { status: 400, meaning: "The request is not valid HTTP." },
  malformed_url: { status: 400, meaning: "The URL cannot be decoded." },
  malformed_json: { status: 400, meaning: "The body is not valid JSON." },
  invalid_utf8: { status: 400, meaning: "The body is not valid UTF-8." },
  body_incomplete: { status: 400, meaning: "The connection ended before the whole body arrived." },
  unauthorized: { status: 401, meaning: "A valid key is needed." },
  sign_in_failed: { status: 401, meaning: "The key or one-time link is not valid." },
  forbidden: { status: 403, meaning: "The key may not do this." },
  cross_site_request: { status: 403, meaning: "A session was used by a page of another site." },
  not_found: { status: 404, meaning: "There is nothing at this path." },
  session_not_found: { status: 404, meaning: "There is no session to end." },
  method_not_allowed: { status: 405, meaning: "The method is not supported here." },
  request_timeout: { status: 408, meaning: "The request did not arrive in time." },
  body_too_large: { status: 413, meaning: "The body is larger than the limit." },
  unsupported_media_type: { status: 415, meaning: "The body has a type or encoding that is not accepted." },
  expectation_failed: { status: 417, meaning: "The header Expect has an unknown value." },
  unknown_host: { status: 421, meaning: "The host name is not configured." },
  invalid_body: { status: 422, meaning: "The body has missing, unknown or invalid fields." },
  invalid_parameter: { status: 422, meaning: "A query parameter is unknown or invalid." },
  headers_too_large: { status: 431, meaning: "The URL and the headers are too long." },
  rate_limited: { status: 429, meaning: "The key exceeded its rate limit." },
  too_many_sign_ins: { status: 429, meaning: "Too many failed sign-ins from this address." },
  too_many_streams: { status: 429, meaning: "Too many live streams are open." },
  internal_error: { status: 500, meaning: "The server failed unexpectedly." },
  body_already_read: { status: 500, meaning: "Another handler consumed the body first." },
  shutting_down: { status: 503, meaning: "The server is shutting down." },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type HttpErrorCode = keyof typeof httpErrorRegistry;

/** A problem with one field: a JSON Pointer into the body, a header, or a query parameter. */
export type FieldError =
  | { readonly pointer: string; readonly message: string }
  | { readonly header: string; readonly message: string }
  | { readonly parameter: string; readonly message: string };

export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code: HttpErrorCode;
  readonly fieldErrors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: HttpErrorCode,
    detail: string,
    options: { fieldErrors?: readonly FieldError[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.code = code;
    this.fieldErrors = options.fieldErrors ?? [];
    this.headers = options.headers ?? {};
  }
}

export const DUPLICATE_FIELD = "A field is given twice. Give each field once.";

/** The error for an invalid body, with every invalid field. */
export function invalidBody(errors: readonly FieldError[]): HttpError {
  const [first] = errors;
  const others = errors.length > MAX_PROBLEMS ? "" : `${errors.length - 1} `;
  const where = first === undefined ? "" : locationOf(first);
  const more = errors.length > 1 ? ` And ${others}more; see errors.` : "";
  return new HttpError("invalid_body", `${where}${first?.message}${more}`, { fieldErrors: errors });
}

function locationOf(error: FieldError): string {
  if ("header" in error) return `${error.header}: `;
  return "pointer" in error && error.pointer !== "" ? `${error.pointer}: ` : "";
}
