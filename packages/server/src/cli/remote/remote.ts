// Commands that use the API: their parameters, common options, lists and output.
import { type Command, Option } from "commander";
import { failed, usage } from "../failure.ts";
import type { Page } from "../follow/follower.ts";
import { progressBar } from "../terminal/progress-bar.ts";
import { type Column, table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, jsonText } from "../terminal/text.ts";
import type { Connection, ConnectionFlags } from "./connection.ts";
import { DEFAULT_URL } from "./default-url.ts";
import { endpointIdOf } from "./endpoint-id.ts";

export interface Remote extends Connection {
  readonly terminal: Terminal;
  readonly isJson: boolean;
  /** Prints a result as JSON or as text. */
  print<Result>(result: Result, describe: (result: Result) => string): void;
  /** Prints a note for people; omitted with --json. */
  note(text: string): void;
  /** Asks for confirmation before an irreversible change, in an interactive terminal and without --yes. */
  confirm(what: string): Promise<void>;
}

export interface RemoteFlags extends ConnectionFlags {
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** An argument such as `<id>`, or an option, with its description and its possible values. */
export type Param = Option | readonly [flags: string, about: string, choices?: readonly string[]];

export const TENANT_FILTER: Param = ["--tenant <tenant>", "only of this tenant"];
export const ENDPOINT_FILTER: Param = ["--endpoint <endpoint>", "only to this endpoint, by id or name"];
export const ENDPOINT: Param = ["<endpoint>", "ep_…, or its name"];
export const YES: Param = ["--yes", "skip the confirmation"];
export const TIME_FILTERS: readonly Param[] = [
  ["--since <time>", "since this time: 2026-11-15T09:30:00Z, or a duration ago: 10m, 2h, 3d"],
  ["--until <time>", "until this time, in the same formats"],
];

export function required(flags: string, about: string): Option {
  return new Option(flags, about).makeOptionMandatory();
}

/** The arguments of a command; the first one is required if there is any. */
export type Args = readonly [string, ...string[]];

/** Adds a command. */
type Add<Shared extends object = object> = <Flags extends object = object>(
  name: string,
  about: string,
  params: readonly Param[],
  run: (remote: Remote, args: Args, flags: Shared & Flags) => void | Promise<void>,
) => void;

/** Returns a function that adds commands below `parent`, all with the shared parameters. */
export function commandsOf<Shared extends object = object>(
  parent: Command,
  terminal: Terminal,
  shared: readonly Param[] = [],
): Add<Shared> {
  return (name, about, params, run) => {
    const command = parent.command(name).description(about);
    for (const param of [...shared, ...params]) {
      if (param instanceof Option || param[0].startsWith("-")) command.addOption(optionOf(param));
      else command.argument(param[0], param[1]);
    }
    remoteOptions(command).action(async (...given: unknown[]) => {
      const flags = flagsOf<Parameters<typeof run>[2] & RemoteFlags & EndpointFlags>(given.at(-1) as Command);
      const args = given.slice(0, -2) as [string, ...string[]];
      for (const id of [...args, flags.tenant]) requireId(id);
      const remote = await openRemote(terminal, flags);
      const { tenant } = flags;
      if (params[0] === ENDPOINT) args[0] = await endpointIdOf(remote.client, args[0], tenant);
      const { endpoint } = flags;
      const filter =
        endpoint === undefined ? {} : { endpoint: await endpointIdOf(remote.client, endpoint, tenant) };
      await run(remote, args, { ...flags, ...filter });
    });
  };
}

interface EndpointFlags extends Partial<OfTenant> {
  readonly endpoint?: string;
}

/** The options of commands with `TENANT`. */
export interface OfTenant {
  readonly tenant: string;
}

export const TENANT = required("--tenant <tenant>", "id of the tenant");

function optionOf(param: Param): Option {
  if (param instanceof Option) return param;
  const [flags, about, choices] = param;
  const option = new Option(flags, about);
  return choices === undefined ? option : option.choices(choices);
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

/** Loads the API contract, which the help and the commands that work offline do without. */
export async function openRemote(terminal: Terminal, flags: RemoteFlags): Promise<Remote> {
  const { connect } = await import("./connection.ts");
  const isJson = flags.json ?? false;
  return {
    ...(await connect(flags, terminal.env)),
    terminal,
    isJson,
    print: (result, describe) => terminal.print(isJson ? jsonText(result) : describe(result)),
    note: (text) => {
      if (!isJson) terminal.printError(text);
    },
    confirm: async (what) => {
      if (flags.yes || !terminal.isInteractive) return;
      const answer = await terminal.ask(`${clean(what)} Continue? [y/N] `);
      if (/^y(es)?$/i.test(answer.trim())) return;
      throw failed("Nothing was changed. Answer y to continue, or use --yes.");
    },
  };
}

interface List<Item> {
  /** `query` has the filters and the page. */
  readonly fetchPage: (query: never) => Promise<Page<Item>>;
  readonly columns: readonly Column<Item>[];
  /** The text for an empty list. */
  readonly none: string | (() => Promise<string>);
}

const PAGE_LIMIT = 250;
/** A page may be empty and still have a next one. This many cover 400,000 rows; then the user has to continue. */
export const MAX_EMPTY_PAGES = 200;

interface ListFlags extends TimeFlags {
  readonly [filter: string]: string | undefined;
  readonly limit?: string;
  readonly cursor?: string;
}

/** Adds a command that prints a list. `filters` are query parameters of the same names. */
export function addList<Item, Shared extends object>(
  add: Add<Shared>,
  [name, about]: readonly [name: string, about: string],
  filters: readonly Param[],
  listOf: (remote: Remote, flags: Shared & Partial<OfTenant>) => List<Item>,
): void {
  const paging: Param[] = [
    ["--limit <number>", "maximum number of items (default 50)"],
    ["--cursor <cursor>", "cursor of the next page"],
  ];
  const names = filters.map((filter) => optionOf(filter).attributeName());
  add(name, about, [...filters, ...paging], async (remote, _args, flags: Shared & ListFlags) => {
    const { since, until, ...query } = Object.fromEntries(names.map((filter) => [filter, flags[filter]]));
    await printList(
      remote,
      flags,
      { ...query, ...timeFilters({ since, until }, remote.now()) },
      listOf(remote, flags),
    );
  });
}

/** Prints up to `limit` items from as many pages as needed. JSON output contains the next cursor. */
async function printList<Item>(
  remote: Remote,
  { limit = "50", cursor }: ListFlags,
  filters: object,
  { fetchPage, columns, none }: List<Item>,
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
      const pageLimit = Math.min(PAGE_LIMIT, wanted - data.length);
      const page = await fetchPage({ ...filters, limit: pageLimit, cursor: next ?? undefined } as never);
      data.push(...page.data);
      next = page.next_cursor;
      emptyPages = page.data.length === 0 ? emptyPages + 1 : 0;
      if (hasMore()) bar.update(data.length, null);
    } while (hasMore());
  } finally {
    bar.end();
  }
  const noneText = data.length > 0 || remote.isJson || typeof none === "string" ? none : await none();
  remote.print({ data, next_cursor: next }, () =>
    data.length === 0 ? String(noneText) : table(terminal, columns, data),
  );
  if (next === null) return;
  remote.note(
    emptyPages === MAX_EMPTY_PAGES
      ? `There may be more: the last ${MAX_EMPTY_PAGES} pages were empty. Continue with --cursor ${clean(next)}, or use a narrower filter.`
      : `There are more: use --limit ${wanted * 2} or --cursor ${clean(next)}`,
  );
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
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export function timeFilters({ since, until }: TimeFlags, now: Date) {
  return {
    created_after: since === undefined ? undefined : parseTime("--since", since, now).toISOString(),
    created_before: until === undefined ? undefined : parseTime("--until", until, now).toISOString(),
  };
}

/** Splits a comma-separated list of known words. */
export function knownWords<Word extends string>(name: string, text: string, known: readonly Word[]): Word[] {
  const given = splitList(text);
  const wrong = given.find((word) => !known.some((one) => one === word));
  if (wrong === undefined && given.length > 0) return given as Word[];
  throw usage(`${name} has "${wrong ?? ""}"; choose from ${known.join(", ")}.`);
}

/** Splits a comma-separated list. */
export function splitList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
