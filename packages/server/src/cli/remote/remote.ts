// Commands that use the API: their common options, lists and output.
import { type Command, Option } from "commander";
import { usage } from "../failure.ts";
import { progressBar } from "../terminal/progress-bar.ts";
import { type Column, table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, jsonText } from "../terminal/text.ts";
import { type Connection, type ConnectionFlags, connect, DEFAULT_URL } from "./connection.ts";

export interface Remote extends Connection {
  readonly terminal: Terminal;
  readonly isJson: boolean;
}

export interface RemoteFlags extends ConnectionFlags {
  readonly json?: boolean;
}

/** Adds the common options and the action. `args` are the positional arguments. */
export function remote<Flags extends object>(
  command: Command,
  terminal: Terminal,
  run: (remote: Remote, args: readonly string[], flags: Flags) => Promise<void>,
): Command {
  return remoteOptions(command).action(async (...given: unknown[]) => {
    const flags = flagsOf<RemoteFlags & Flags & { readonly tenant?: string }>(given.at(-1) as Command);
    const args = given.slice(0, -2) as string[];
    for (const id of [...args, flags.tenant]) requireId(id);
    await run(openRemote(terminal, flags), args, flags);
  });
}

/** Returns the options of the command, which take precedence over global ones. */
export function flagsOf<Flags extends object>(command: Command): Flags {
  return { ...command.optsWithGlobals<Flags>(), ...command.opts<Flags>() };
}

/** Rejects ids that a URL would treat as relative path segments. */
export function requireId(text: string | undefined): void {
  if (text === "" || text === "." || text === "..") throw usage(`${JSON.stringify(text)} is not an id.`);
}

export function remoteOptions(command: Command): Command {
  return command
    .addOption(new Option("--url <url>", `URL of the server (POSTHORN_URL, default ${DEFAULT_URL})`))
    .addOption(new Option("--key <key>", "API key (POSTHORN_API_KEY)"))
    .addOption(new Option("--json", "print JSON"));
}

export function openRemote(terminal: Terminal, flags: RemoteFlags): Remote {
  return { ...connect(flags, terminal.env), terminal, isJson: flags.json ?? false };
}

/** Prints a result as JSON or as text. */
export function printResult<Result>(
  { terminal, isJson }: Remote,
  result: Result,
  describe: (result: Result) => string,
) {
  terminal.print(isJson ? jsonText(result) : describe(result));
}

/** Prints a note for people; omitted with --json. */
export function printNote({ terminal, isJson }: Remote, text: string): void {
  if (!isJson) terminal.printError(text);
}

interface Page<Item> {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

/** The flags of `listOptions`. */
export interface PageFlags {
  readonly limit?: string;
  readonly cursor?: string;
}

const PAGE_LIMIT = 250;
/** A page may be empty and still have a next one. This many cover 400,000 rows; then the user has to continue. */
export const MAX_EMPTY_PAGES = 200;

/** Text for an empty list that needs a further request. */
export type EmptyText = () => Promise<string>;

/** Prints up to `limit` items from as many pages as needed. JSON output contains the next cursor. */
export async function printList<Item>(
  remote: Remote,
  { limit = "50", cursor }: PageFlags,
  fetchPage: (page: { limit: number; cursor: string | undefined }) => Promise<Page<Item>>,
  { columns, none }: { readonly columns: readonly Column<Item>[]; readonly none: string | EmptyText },
): Promise<void> {
  const wanted = wholeNumber("--limit", limit, 1, 100_000);
  const { terminal } = remote;
  const bar = progressBar(terminal, "Reading");
  const data: Item[] = [];
  let next = cursor ?? null;
  let emptyPages = 0;
  const hasMore = () => next !== null && data.length < wanted && emptyPages < MAX_EMPTY_PAGES;
  try {
    do {
      const page = await fetchPage({
        limit: Math.min(PAGE_LIMIT, wanted - data.length),
        cursor: next ?? undefined,
      });
      data.push(...page.data);
      next = page.next_cursor;
      emptyPages = page.data.length === 0 ? emptyPages + 1 : 0;
      if (hasMore()) bar.update(data.length, null);
    } while (hasMore());
  } finally {
    bar.end();
  }
  const noneText = data.length > 0 || remote.isJson || typeof none === "string" ? none : await none();
  printResult(remote, { data, next_cursor: next }, () =>
    data.length === 0 ? String(noneText) : table(terminal, columns, data),
  );
  if (next !== null && !remote.isJson) {
    terminal.printError(
      emptyPages === MAX_EMPTY_PAGES
        ? `There may be more: the last ${MAX_EMPTY_PAGES} pages were empty. Continue with --cursor ${clean(next)}, or use a narrower filter.`
        : `There are more: use --limit ${wanted * 2} or --cursor ${clean(next)}`,
    );
  }
}

export function listOptions(command: Command): Command {
  return command
    .option("--limit <number>", "maximum number of items (default 50)")
    .option("--cursor <cursor>", "cursor of the next page");
}

export function timeOptions(command: Command): Command {
  return command
    .option("--since <time>", "since this time: 2026-11-15T09:30:00Z, or a duration ago: 10m, 2h, 3d")
    .option("--until <time>", "until this time, in the same formats");
}

export function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw usage(`${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}.`);
}

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses a timestamp, or a duration before now such as `10m`. */
export function parseTime(name: string, text: string, now: Date): Date {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (unit !== undefined)
    return new Date(now.getTime() - Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS]);
  const ms = timeMs(text);
  if (!Number.isNaN(ms)) return new Date(ms);
  throw usage(
    `${name} must be a time such as 2026-11-15T09:30:00Z, or a duration such as 10m, 2h or 3d, not ${JSON.stringify(text)}.`,
  );
}

/** Parses a time in the future. */
export function parseFutureTime(name: string, text: string, now: Date): Date {
  const ms = timeMs(text);
  if (ms > now.getTime()) return new Date(ms);
  throw usage(
    `${name} must be a day or a time in the future, such as 2027-01-01 or 2027-01-01T09:30:00Z, not ${JSON.stringify(text)}.`,
  );
}

/** A day starts at midnight UTC. */
function timeMs(text: string): number {
  return /^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
}

export interface TimeFlags {
  readonly since?: string;
  readonly until?: string;
}

export function timeFilters({ since, until }: TimeFlags, now: Date) {
  return {
    created_after: since === undefined ? undefined : parseTime("--since", since, now).toISOString(),
    created_before: until === undefined ? undefined : parseTime("--until", until, now).toISOString(),
  };
}

/** Splits a comma-separated list. */
export function splitList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
