// The logger interface. Any logger with these four methods fits; secrets and payloads are never logged.
export interface Logger {
  /** False: debug lines are dropped before they are composed. Undefined means true. */
  readonly isDebug?: boolean;
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

const ignore = (): void => {};

export const silentLogger: Logger = {
  isDebug: false,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
};
