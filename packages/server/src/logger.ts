// Writes one line per message, as JSON or as readable text for a terminal. Secrets and payloads are removed here as well,
// as a second line of defence.
import type { Logger } from "posthorn";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: "json" | "pretty";
  /** Fields of every line. */
  readonly fields?: object;
  /** Default: standard error. Standard output is for the results of commands. */
  readonly write?: (line: string) => void;
  readonly now?: () => Date;
}

export interface LevelledLogger extends Logger {
  /** Lets a hot path skip building fields that are not logged. */
  readonly isDebug: boolean;
}

export function createLogger({ level, format, fields: always, write, now }: LoggerOptions): LevelledLogger {
  const output = write ?? ((line) => void process.stderr.write(line));
  const line = format === "json" ? jsonLine : prettyLine;
  const threshold = LOG_LEVELS.indexOf(level);
  const at = (wanted: LogLevel) => {
    if (LOG_LEVELS.indexOf(wanted) < threshold) return () => {};
    return (message: string, fields: object = {}) =>
      output(`${maskSecrets(line((now ?? currentTime)(), wanted, message, { ...always, ...fields }))}\n`);
  };
  return {
    isDebug: threshold === 0,
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
}

function currentTime(): Date {
  return new Date();
}

function jsonLine(time: Date, level: LogLevel, message: string, fields: object): string {
  return JSON.stringify({ time, level, message, ...fields }, presentable);
}

function prettyLine(time: Date, level: LogLevel, message: string, fields: object): string {
  const clock = time.toISOString().slice(11, 23);
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        ` ${name}=${JSON.stringify({ [name]: value }, presentable).slice(name.length + 4, -1)}`,
    );
  return withoutControls(`${clock} ${level.padEnd(5)} ${message}${rest.join("")}`);
}

const NEVER_LOGGED = new Set([
  "adminkey",
  "alertwebhookurl",
  "authorization",
  "body",
  "connectionstring",
  "cookie",
  "data",
  "database",
  "databaseurl",
  "encryptionkeys",
  "headers",
  "password",
  "payload",
  "rawdata",
  "responsebody",
  "secret",
  "secrets",
  "smtpurl",
]);

function presentable(name: string, value: unknown): unknown {
  if (NEVER_LOGGED.has(name.toLowerCase().replaceAll("_", ""))) return "[not logged]";
  if (value instanceof Error) {
    const { code } = value as { code?: unknown };
    return { name: value.name, message: value.message, code, stack: value.stack, cause: value.cause };
  }
  return typeof value === "bigint" ? String(value) : value;
}

/** Masks secrets inside longer texts, such as error messages, and passwords in URLs. */
function maskSecrets(line: string): string {
  return line
    .replace(/\b(whsec_|whsk_|phk_|pht_)[A-Za-z0-9+/=_-]+/g, "$1…")
    .replace(/\b((?:postgres(?:ql)?|smtps?):\/\/[^:@/\s"]*):[^@/\s"]*@/g, "$1:…@");
}

/** Escapes control characters, because external text may contain line breaks and terminal escapes. */
function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to escape
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (control) =>
    JSON.stringify(control)
      .slice(1, -1)
      .replace(/^[\u007f-\u009f]$/, "?"),
  );
}
