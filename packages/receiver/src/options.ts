// The receiver's options: type, meaning and default in one place, parsed once. Unknown names are rejected with a suggestion.
import { didYouMean } from "@posthorn/wire";
import type { EventSchemas } from "./handle/handlers.ts";
import type { Hooks } from "./hooks/hooks.ts";
import { type Contents, contentsOf, OUTCOME_STATUS, type ResponseBodies } from "./respond.ts";
import type { Source } from "./source.ts";
import type { ClaimOptions, Store } from "./store.ts";

export type Mode = "transactional" | "lease" | "inbox";

export interface ReceiverOptions<Tx, Schemas extends EventSchemas> extends Hooks {
  /** The senders: `posthorn({ secrets })`, `stripe({ secrets })`, … Several can share a URL if their signature headers differ. */
  readonly sources: readonly Source[];
  /** Remembers handled events. Do not share it between receivers with different handlers. */
  readonly store: Store<Tx>;
  /**
   * `transactional`: the handler's writes and the completion commit together. `lease`: for effects elsewhere, which may repeat after a
   * crash. `inbox`: stored, acknowledged, and handled after `start()`. Default: `transactional` if the store supports it, else `lease`.
   */
  readonly mode?: Mode | undefined;
  /** Event types and the Standard Schema that their data must match, or `eventTypes<…>()` for types without validation. Default: any. */
  readonly events?: Schemas | undefined;
  /** Default 1 048 576. */
  readonly maxBodyBytes?: number | undefined;
  /** How far a signed timestamp may lie in the past or the future. Default 300. */
  readonly toleranceSeconds?: number | undefined;
  /** How long the claim of a process that stopped responding lasts; renewed during work. Default 60 000. */
  readonly leaseMs?: number | undefined;
  /**
   * How long a handler may take. After that its `signal` is aborted and the delivery fails. Default 60 000, because senders wait 10 to
   * 30 s; in mode `inbox` 600 000.
   */
  readonly handlerTimeoutMs?: number | undefined;
  /** Days for which a handled event is remembered; after that it counts as new. Default 30. */
  readonly windowDays?: number | undefined;
  /** `afterFailures`: the number of failures after which a message is a dead letter; null: only on `PermanentFailure`. Default null, in mode `inbox` 10. */
  readonly deadLetters?: { readonly afterFailures?: number | null | undefined } | undefined;
  /** Handles a subject's events in the order of their sequences; `gapWaitMs`: how long to wait for a missing one. Default: no ordering. */
  readonly order?: { readonly gapWaitMs: number } | undefined;
  /** Delay of the inbox after a failure: doubled each time up to the maximum, with up to half as jitter. Default 1 000 and 3 600 000. */
  readonly retries?:
    | { readonly firstDelayMs?: number | undefined; readonly maxDelayMs?: number | undefined }
    | undefined;
  /** How many messages `start()` handles at once, and how often it polls for messages of other processes. Default 10 and 1 000. */
  readonly inbox?:
    | { readonly concurrency?: number | undefined; readonly pollMs?: number | undefined }
    | undefined;
  /** Accepts the CloudEvents handshake (`OPTIONS`) from these origins, `*` for all, at this many requests per minute. Default: 405. */
  readonly handshake?:
    | { readonly allowedOrigins: readonly string[]; readonly rate?: number | undefined }
    | undefined;
  /**
   * Bodies of responses by their `status`, such as `{ done: { status: "ok" } }`: an object is sent as JSON, a string as text. The HTTP
   * status stays. Default `{"status": …}`.
   */
  readonly responseBodies?: ResponseBodies | undefined;
  /** The clock that signed timestamps are compared with. Default: the system clock. */
  readonly clock?: (() => Date) | undefined;
}

export type Settings = ReturnType<typeof readOptions>;

export interface Handshake {
  readonly allowedOrigins: readonly string[];
  /** Requests per minute; null for no limit. */
  readonly rate: number | null;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MODES: readonly string[] = ["transactional", "lease", "inbox"] satisfies Mode[];

export const optionNames = [
  "sources",
  "store",
  "mode",
  "events",
  "maxBodyBytes",
  "toleranceSeconds",
  "leaseMs",
  "handlerTimeoutMs",
  "windowDays",
  "deadLetters",
  "order",
  "retries",
  "inbox",
  "handshake",
  "responseBodies",
  "onRejected",
  "onConflict",
  "onFailure",
  "onDead",
  "onStale",
  "onUnhandled",
  "clock",
] as const satisfies readonly (keyof ReceiverOptions<unknown, EventSchemas>)[];

export function readOptions<Tx>(options: ReceiverOptions<Tx, EventSchemas>) {
  rejectUnknownOptions("createReceiver", options, optionNames);
  checkSources(options.sources);
  checkEvents(options.events);
  const mode = modeOf(options);
  const { deadLetters, order, retries, inbox, handshake } = options;
  if (deadLetters !== undefined) rejectUnknownOptions("deadLetters", deadLetters, ["afterFailures"]);
  if (order !== undefined) rejectUnknownOptions("order", order, ["gapWaitMs"]);
  if (retries !== undefined) rejectUnknownOptions("retries", retries, ["firstDelayMs", "maxDelayMs"]);
  if (inbox !== undefined) rejectUnknownOptions("inbox", inbox, ["concurrency", "pollMs"]);
  const afterFailures = deadLetters?.afterFailures;
  const firstDelayMs = wholeNumber("retries.firstDelayMs", retries?.firstDelayMs ?? 1_000, 1, HOUR_MS);
  return {
    mode,
    maxBodyBytes: wholeNumber("maxBodyBytes", options.maxBodyBytes ?? 2 ** 20, 1, 100 * 2 ** 20),
    toleranceSeconds: wholeNumber("toleranceSeconds", options.toleranceSeconds ?? 300, 1, 86_400),
    claimOptions: {
      leaseMs: wholeNumber("leaseMs", options.leaseMs ?? 60_000, 1_000, HOUR_MS),
      windowMs: wholeNumber("windowDays", options.windowDays ?? 30, 1, 3_650) * DAY_MS,
      order:
        order === undefined
          ? null
          : { gapWaitMs: wholeNumber("order.gapWaitMs", order.gapWaitMs, 0, DAY_MS) },
    } satisfies ClaimOptions,
    handlerTimeoutMs: wholeNumber(
      "handlerTimeoutMs",
      options.handlerTimeoutMs ?? defaultTimeoutMs(mode),
      1,
      DAY_MS,
    ),
    afterFailures: readAfterFailures(afterFailures, mode),
    retries: {
      firstDelayMs,
      maxDelayMs: wholeNumber(
        "retries.maxDelayMs",
        retries?.maxDelayMs ?? HOUR_MS,
        firstDelayMs,
        30 * DAY_MS,
      ),
    },
    inbox: {
      concurrency: wholeNumber("inbox.concurrency", inbox?.concurrency ?? 10, 1, 1_000),
      pollMs: wholeNumber("inbox.pollMs", inbox?.pollMs ?? 1_000, 10, 60_000),
    },
    handshake: handshake === undefined ? null : readHandshake(handshake),
    contents: readResponseBodies(options.responseBodies ?? {}),
    now: options.clock ?? (() => new Date()),
  };
}

function checkSources(sources: readonly Source[]): void {
  if (!Array.isArray(sources) || sources.length === 0) {
    throw new TypeError("createReceiver needs `sources`, such as [posthorn({ secrets: [secret] })].");
  }
  for (const [at, source] of sources.entries()) {
    const problem = sourceProblem(source);
    if (problem !== null) throw new TypeError(`sources[${at}] is not a source: ${problem}.`);
    const { name, retryLaterStatus = 503 } = source;
    if (mayMeanLater(retryLaterStatus)) continue;
    throw new TypeError(
      `retryLaterStatus of "${name}" is ${written(retryLaterStatus)}, after which its sender would not send the event again. Use 408, 409, 425, 429 or 5xx, or omit it.`,
    );
  }
  const names = sources.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw new TypeError(`Two sources are named "${twice}". Give one of them another \`name\`.`);
  }
}

/** A mistake in a source of the application that would show at its first request, as the end of a sentence. */
function sourceProblem(source: unknown): string | null {
  if (typeof source !== "object" || source === null)
    return "use a preset, such as posthorn({ secrets }), or an object of the type Source";
  const given = source as Partial<Record<keyof Source, unknown>>; // may be an instance of a class
  const { name, parsedHeaders, hasStableBody } = given;
  if (typeof name !== "string" || name === "")
    return "it needs a `name`, which is part of every message's key";
  const methods = ["matches", "authenticate", "parse"] as const;
  const method = methods.find((known) => typeof given[known] !== "function");
  if (method !== undefined) return `"${name}" has no method \`${method}\``;
  const isLower = (header: unknown) => typeof header === "string" && header === header.toLowerCase();
  if (!Array.isArray(parsedHeaders) || !parsedHeaders.every(isLower))
    return `\`parsedHeaders\` of "${name}" must list the headers that it parses, in lower case`;
  return typeof hasStableBody === "boolean" ? null : `"${name}" needs \`hasStableBody\`, true or false`;
}

/** 409 only if the sender documents it: to most, it is final. */
function mayMeanLater(status: number): boolean {
  return (
    [408, 409, 425, 429].includes(status) || (Number.isInteger(status) && status >= 500 && status <= 599)
  );
}

/** Fails at start rather than at the first event of the type. */
function checkEvents(events: EventSchemas | undefined): void {
  if (events === undefined) return;
  if (typeof events !== "object" || events === null || Array.isArray(events)) {
    throw new TypeError(
      "`events` must be an object: event type → schema, or eventTypes<…>() for types without validation.",
    );
  }
  for (const [type, schema] of Object.entries(events)) {
    if (typeof schema?.["~standard"]?.validate === "function") continue;
    throw new TypeError(
      `events["${type.slice(0, 60)}"] is not a Standard Schema, such as those of zod, Valibot and ArkType. For types without validation use eventTypes<…>().`,
    );
  }
}

function modeOf<Tx>({ mode, store }: ReceiverOptions<Tx, EventSchemas>): Mode {
  if (typeof store?.claim !== "function") {
    throw new TypeError("createReceiver needs a `store`, such as memoryStore() or postgresStore(pool).");
  }
  const canCommitTogether = store.transactions !== null;
  if (mode === undefined) return canCommitTogether ? "transactional" : "lease";
  if (!MODES.includes(mode)) throw new TypeError(`There is no mode "${mode}". ${didYouMean(mode, MODES)}`);
  if (mode === "transactional" && !canCommitTogether) {
    throw new TypeError("This store has no transactions. Use the mode lease or inbox, or another store.");
  }
  return mode;
}

function defaultTimeoutMs(mode: Mode): number {
  return mode === "inbox" ? 600_000 : 60_000;
}

function readAfterFailures(afterFailures: number | null | undefined, mode: Mode): number | null {
  if (afterFailures === undefined) return mode === "inbox" ? 10 : null;
  return afterFailures === null ? null : wholeNumber("deadLetters.afterFailures", afterFailures, 1, 1_000);
}

function readHandshake(options: NonNullable<ReceiverOptions<unknown, EventSchemas>["handshake"]>): Handshake {
  rejectUnknownOptions("handshake", options, ["allowedOrigins", "rate"]);
  const { allowedOrigins, rate } = options;
  if (!Array.isArray(allowedOrigins) || allowedOrigins.length === 0) {
    throw new TypeError('handshake needs `allowedOrigins`, such as ["eventgrid.azure.net"] or ["*"].');
  }
  return {
    allowedOrigins,
    rate: rate === undefined ? null : wholeNumber("handshake.rate", rate, 1, 1_000_000),
  };
}

function readResponseBodies(bodies: ResponseBodies): Contents {
  rejectUnknownOptions("responseBodies", bodies, Object.keys(OUTCOME_STATUS));
  for (const [status, body] of Object.entries(bodies)) {
    if (body === undefined || typeof body === "string" || (typeof body === "object" && body !== null))
      continue;
    throw new TypeError(
      `responseBodies.${status} must be an object, sent as JSON, or a string, sent as text.`,
    );
  }
  try {
    return contentsOf(bodies);
  } catch (error) {
    throw new TypeError(`A body of responseBodies cannot be written as JSON: ${(error as Error).message}`);
  }
}

/** Throws if `options` has an unknown option. */
export function rejectUnknownOptions(what: string, options: object, names: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new TypeError(`${what} needs an object of options.`);
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) {
      throw new TypeError(`${what} has no option "${name.slice(0, 60)}". ${didYouMean(name, names)}`);
    }
  }
}

export function wholeNumber(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`${name} must be a whole number from ${least} to ${most}, not ${written(value)}.`);
}

/** A text with its quotes, because a number in an environment variable is one. */
function written(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
