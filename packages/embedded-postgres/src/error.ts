// Errors of the embedded PostgreSQL. Each message says what happened and what to do next.

export type EmbeddedPostgresErrorCode =
  | "platform_unsupported"
  | "data_directory_unusable"
  | "data_directory_version"
  | "data_directory_in_use"
  | "account_unusable"
  | "start_failed"
  | "lock_timeout";

export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
  readonly code: EmbeddedPostgresErrorCode;

  constructor(code: EmbeddedPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The last sentence of most messages. */
export const useOwnDatabase = "Or set DATABASE_URL to your own PostgreSQL 14 or newer.";

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
