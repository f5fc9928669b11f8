// What the HTTP layer itself can refuse, in one table like the library's: a stable code, the status, what it means.
// The detail of an instance says what happened and what to do next.

export const httpErrorRegistry = {
  malformed_url: { status: 400, meaning: "The URL cannot be decoded." },
  malformed_json: { status: 400, meaning: "The body is not valid JSON." },
  invalid_utf8: { status: 400, meaning: "The body is not valid UTF-8." },
  body_incomplete: { status: 400, meaning: "The connection ended before the whole body arrived." },
  unauthorized: { status: 401, meaning: "A valid key is needed." },
  sign_in_failed: { status: 401, meaning: "The key or one-time link does not let anybody in." },
  forbidden: { status: 403, meaning: "The key may not do this." },
  cross_site_request: { status: 403, meaning: "A session was used from somewhere else than our own pages." },
  not_found: { status: 404, meaning: "There is nothing at this address." },
  session_not_found: { status: 404, meaning: "There is no session to end." },
  method_not_allowed: { status: 405, meaning: "This address does not know the method." },
  body_too_large: { status: 413, meaning: "The body is larger than the limit." },
  unsupported_media_type: { status: 415, meaning: "The body has a type or encoding that is not accepted." },
  unknown_host: { status: 421, meaning: "The server does not know itself by this host name." },
  invalid_body: { status: 422, meaning: "The body has fields that are missing, unknown or wrong." },
  invalid_parameter: { status: 422, meaning: "A parameter in the URL is unknown or wrong." },
  rate_limited: { status: 429, meaning: "The key makes more requests than it may." },
  too_many_sign_ins: { status: 429, meaning: "Too many tries to sign in failed from this address." },
  too_many_streams: { status: 429, meaning: "Too many live streams are open." },
  internal_error: { status: 500, meaning: "Something went wrong on our side." },
  body_already_read: { status: 500, meaning: "Another handler consumed the body first." },
  shutting_down: { status: 503, meaning: "This server is stopping." },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type HttpErrorCode = keyof typeof httpErrorRegistry;

/** One place that is wrong: a JSON Pointer into the body, a header, or a parameter of the URL. */
export type FieldError =
  | { readonly pointer: string; readonly message: string }
  | { readonly header: string; readonly message: string }
  | { readonly parameter: string; readonly message: string };

export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code: HttpErrorCode;
  readonly places: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: HttpErrorCode,
    detail: string,
    options: { places?: readonly FieldError[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.code = code;
    this.places = options.places ?? [];
    this.headers = options.headers ?? {};
  }
}
