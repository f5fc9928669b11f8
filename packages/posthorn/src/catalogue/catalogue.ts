// This process's copy of the catalogue, and the checks of events against it. A change is seen within a second: the
// poller, or the publishes of a process that was not started, read the version at least twice a second. Before an event
// is rejected, the catalogue is read again.
import { setImmediate } from "node:timers/promises";
import { closest, didYouMean } from "@posthorn/wire";
import { type InputProblem, type PosthornError, problemAt } from "../errors.ts";
import { SYSTEM_TYPE_PREFIX } from "../fan-out/matches.ts";
import { CheckBudget, MAX_STEPS } from "../json-schema/check-run.ts";
import { type CheckValue, compileSchema } from "../json-schema/compile-schema.ts";
import { BATCH_TYPE, type Event } from "../model.ts";
import { isUnavailable, type Queryable } from "../storage/database.ts";
import {
  catalogueStatement,
  type EventTypeRow,
  type StoredCatalogue,
} from "../storage/queries/event-types.ts";
import type { DeclaredTypes } from "./declared-types.ts";
import { redactedEvent } from "./redact.ts";

/** `auto`: strict once a type is registered. `open`: publishes every event. */
export type CatalogueMode = "auto" | "strict" | "open";

export interface CatalogueOptions {
  readonly db: Queryable;
  readonly mode: CatalogueMode;
  readonly declared: DeclaredTypes;
}

/** Reads the catalogue if it is newer than the version; in the caller's transaction if there is one. */
export type ReadCatalogue = (knownVersion: number) => Promise<StoredCatalogue>;

export interface EventProblem extends InputProblem {
  readonly code: "invalid_event" | "event_too_complex";
}

export type Problems = readonly (EventProblem | null)[];

/** Events that are checked against the same copy of the catalogue. */
interface Batch {
  readonly events: readonly Event[];
  readonly values: readonly unknown[];
  readonly version: number;
  readonly budget: CheckBudget;
  /** Results for the events checked so far. */
  readonly problems: (EventProblem | null)[];
}

interface KnownType {
  readonly redact: readonly string[];
  readonly isDeleted: boolean;
  readonly schema: string | null;
  readonly schemaSinceMs: number | null;
}

export const REFRESH_MS = 500;
/** How long events are checked before other work gets a turn. */
const TURN_MS = 20;

/** Suggestions compare a name with all registered ones, which takes time; a call may have 500 events. */
const MOST_NAMES_COMPARED = 20;
const MOST_SUGGESTIONS = 10;

export class Catalogue {
  readonly #mode: CatalogueMode;
  readonly #declared: DeclaredTypes;
  readonly #fromDatabase: ReadCatalogue;
  #version = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #isKeptFresh = false;
  /** Types by name and version. */
  #types: ReadonlyMap<string, ReadonlyMap<string, KnownType>> = new Map();
  #isStrict = false;
  #reading: Promise<void> | undefined;
  readonly #checks = new Map<string, CheckValue | null>();

  constructor({ db, mode, declared }: CatalogueOptions) {
    this.#mode = mode;
    this.#declared = declared;
    this.#fromDatabase = async (version) => {
      const [row] = await db.query<{ catalogue: string }>(catalogueStatement, [version]);
      return storedCatalogue(row);
    };
    this.#decideStrictness();
  }

  /** True if nothing has to be checked or read. */
  get isIdle(): boolean {
    return this.#mode === "open" || (!this.#isStrict && this.#isFresh);
  }

  /** The version that was last read. */
  get version(): number {
    return this.#version;
  }

  /** Whether a poll calls `refresh` when the version has changed, so that publishing never waits for it. */
  keepFresh(isKept: boolean): void {
    this.#isKeptFresh = isKept;
  }

  async refresh(read: ReadCatalogue = this.#fromDatabase): Promise<void> {
    const begunAt = performance.now();
    const { version, types } = await read(this.#version);
    // another read may have finished first
    if (types !== null && version > this.#version) this.#take(version, types);
    this.#readAt = Math.max(this.#readAt, begunAt);
  }

  /**
   * Returns the problem of each event, or null. Pointers are into the event. Returns a promise only if something has to
   * be read, which valid events do not need. `values` are the payloads that are already parsed.
   */
  problemsOf(
    events: readonly Event[],
    values: readonly unknown[] = [],
    read: ReadCatalogue = this.#fromDatabase,
  ): Problems | Promise<Problems> {
    if (!this.#isFresh) {
      const reading = read === this.#fromDatabase ? this.#refreshOnce() : this.refresh(read);
      return reading.then(() => this.#problemsAsKnown(events, values, read));
    }
    return this.#problemsAsKnown(events, values, read);
  }

  /**
   * Returns the problem of each event that was published from SQL or edited, or null, according to the current catalogue.
   * Types that this process declares are checked as they are registered. Yields to other work.
   */
  async problemsAsRegistered(events: readonly Event[]): Promise<Problems> {
    if (this.#mode !== "open") await this.refresh();
    const problems: (EventProblem | null)[] = [];
    let turnBegunAt = performance.now();
    for (const event of events) {
      problems.push(this.#isStrict ? this.#problemAsRegistered(event, undefined, new CheckBudget()) : null);
      if (performance.now() - turnBegunAt < TURN_MS) continue;
      await setImmediate();
      turnBegunAt = performance.now();
    }
    return problems;
  }

  #problemsAsKnown(
    events: readonly Event[],
    values: readonly unknown[],
    read: ReadCatalogue,
  ): Problems | Promise<Problems> {
    const batch = this.#batchOf(events, values);
    return this.#checkSome(batch)
      ? this.#orReadAnew(batch, read)
      : this.#checkRest(batch).then(() => this.#orReadAnew(batch, read));
  }

  #batchOf(events: readonly Event[], values: readonly unknown[]): Batch {
    return { events, values, version: this.#version, budget: new CheckBudget(), problems: [] };
  }

  /** Returns false to yield to other work; call it again then. Events beyond the budget are not checked. */
  #checkSome({ events, values, budget, problems }: Batch): boolean {
    const pauseAt = budget.stepsLeft - MAX_STEPS;
    while (problems.length < events.length) {
      if (budget.stepsLeft <= pauseAt) return false;
      const index = problems.length;
      const problem = this.#problemOf(events[index] as Event, values[index], budget);
      problems.push(problem);
      if (budget.stepsLeft <= 0 && problem !== null) break;
    }
    return true;
  }

  async #checkRest(batch: Batch): Promise<void> {
    do await setImmediate();
    while (!this.#checkSome(batch));
  }

  #orReadAnew(batch: Batch, read: ReadCatalogue): Problems | Promise<Problems> {
    const isRight = batch.problems.every((problem) => problem === null);
    return isRight ? batch.problems : this.#problemsReadAnew(batch, read);
  }

  /** Checks again only if the catalogue has changed. */
  async #problemsReadAnew(known: Batch, read: ReadCatalogue): Promise<Problems> {
    await this.refresh(read);
    const { events, values } = known;
    const batch = this.#version === known.version ? known : this.#batchOf(events, values);
    if (batch !== known && !this.#checkSome(batch)) await this.#checkRest(batch);
    let suggestions = MOST_SUGGESTIONS;
    return batch.problems.map((problem, index) => {
      if (problem?.pointer !== "/type") return problem;
      suggestions -= 1;
      return suggestions < 0 ? problem : this.#unknown(events[index] as Event, true);
    });
  }

  /** Returns which types have redacted paths in the current catalogue. */
  async hiding(): Promise<(type: string) => boolean> {
    await this.refresh();
    const hides = (type: string) => this.redactedPaths(type, null).length > 0;
    // a batch may contain any type
    return (type) =>
      type === BATCH_TYPE ? [...this.#types.keys(), ...this.#names()].some(hides) : hides(type);
  }

  /**
   * Returns the message for an exact type in a subscription that no event can have, according to the current catalogue;
   * null for registered types, Posthorn's own, and every type in open mode.
   */
  async typeProblems(): Promise<(type: string) => string | null> {
    if (this.#mode === "open") return () => null;
    await this.refresh();
    const known = this.#isStrict ? new Set(this.#names()) : null;
    let suggestions = MOST_SUGGESTIONS;
    return (type) => {
      if (known === null || known.has(type) || type.startsWith(SYSTEM_TYPE_PREFIX)) return null;
      suggestions -= 1;
      const hint = suggestions < 0 ? "Register it first." : this.#suggestion(type);
      return `The catalogue has no type "${type}", so nothing would come. ${hint}`;
    };
  }

  /** Returns the redacted paths of a type. For an unregistered version, those of all versions. */
  redactedPaths(type: string, apiVersion: string | null): readonly string[] {
    const versions = this.#types.get(type);
    const paths = apiVersion === null ? undefined : versions?.get(apiVersion)?.redact;
    const stored = paths ?? [...(versions?.values() ?? [])].flatMap(({ redact }) => redact);
    return [...stored, ...this.#declared.redactedPaths(type)];
  }

  /**
   * Returns whether the event's type had a schema when the event was created. A later schema does not count, and a removed
   * one does, so that the result is the same at every attempt.
   */
  hadSchema({ type, apiVersion, createdAt }: Pick<Event, "type" | "apiVersion" | "createdAt">): boolean {
    const since = this.#types.get(type)?.get(apiVersion)?.schemaSinceMs ?? null;
    return since !== null && since <= createdAt.getTime();
  }

  /** Masks the redacted paths of an event, according to the catalogue as last read. */
  redact(event: Event): Event {
    return redactedEvent(event, (type, apiVersion) => this.redactedPaths(type, apiVersion));
  }

  /** Returns how events of a type are redacted now. `version` differs if any redacted path does. */
  async redactedView(
    type: string,
  ): Promise<{ readonly version: string; readonly redact: (event: Event) => Event }> {
    await this.refresh();
    const versions = [...(this.#types.get(type) ?? [])].map(([name, { redact }]) => [name, redact]);
    const version = JSON.stringify([versions, this.#declared.redactedPaths(type)]);
    return { version, redact: (event) => this.redact(event) };
  }

  get #isFresh(): boolean {
    return this.#isKeptFresh || performance.now() - this.#readAt < REFRESH_MS;
  }

  /** Keeps the old copy if the database is unreachable; publishing reports that error. */
  async #refreshOnce(): Promise<void> {
    this.#reading ??= this.refresh()
      .catch((error: unknown) => {
        if (!isUnavailable(error)) throw error;
      })
      .finally(() => {
        this.#reading = undefined;
      });
    await this.#reading;
  }

  #take(version: number, rows: readonly EventTypeRow[]): void {
    const types = new Map<string, Map<string, KnownType>>();
    for (const row of rows) {
      const versions = types.get(row.name) ?? new Map<string, KnownType>();
      types.set(row.name, versions.set(row.apiVersion, row));
    }
    this.#version = version;
    this.#types = types;
    const schemas = new Set(rows.map(({ schema }) => schema));
    for (const schema of this.#checks.keys()) if (!schemas.has(schema)) this.#checks.delete(schema);
    this.#decideStrictness();
  }

  #decideStrictness(): void {
    this.#isStrict = this.#mode === "strict" || (this.#mode === "auto" && this.#names().length > 0);
  }

  #problemOf(event: Event, value: unknown, budget: CheckBudget): EventProblem | null {
    const declared = this.#declared.types.get(event.type);
    if (!this.#isStrict || declared?.version === event.apiVersion) return null;
    return this.#problemAsRegistered(event, value, budget);
  }

  #problemAsRegistered(event: Event, value: unknown, budget: CheckBudget): EventProblem | null {
    const versions = this.#types.get(event.type);
    const known = versions?.get(event.apiVersion);
    if (known === undefined || known.isDeleted) return this.#unknown(event, false);
    const problem =
      this.#checkOf(known)?.(value === undefined ? parsed(event.payload) : value, budget) ?? null;
    if (problem === null) return null;
    const pointer = `/data${problem.pointer}`;
    const schema = `the schema of ${event.type}, version ${event.apiVersion}`;
    return {
      pointer,
      code: problem.isTooComplex ? "event_too_complex" : "invalid_event",
      message: `"${pointer}" ${problem.message}, according to ${schema}.`,
    };
  }

  /** Compiles the schema at the first event of its type, once per text. */
  #checkOf({ schema }: KnownType): CheckValue | null {
    if (schema === null) return null;
    let check = this.#checks.get(schema);
    if (check === undefined) {
      const compiled = compileSchema(JSON.parse(schema));
      check = compiled.ok ? compiled.check : null;
      this.#checks.set(schema, check);
    }
    return check;
  }

  #unknown({ type, apiVersion }: Event, suggests: boolean): EventProblem {
    const versions = [...(this.#types.get(type) ?? [])].filter(([, { isDeleted }]) => !isDeleted);
    if (versions.length > 0) {
      const known = versions.map(([version]) => version).toSorted();
      const message = `The catalogue has no version "${apiVersion}" of ${type}. Registered are ${known.join(", ")}.`;
      return { pointer: "/apiVersion", code: "invalid_event", message };
    }
    return {
      pointer: "/type",
      code: "invalid_event",
      message: `The catalogue has no type "${type}". ${suggests ? this.#suggestion(type) : "Register it first."}`,
    };
  }

  #suggestion(type: string): string {
    const names = this.#names();
    if (names.length === 0) return "It has no types yet: register this one first.";
    if (names.length <= MOST_NAMES_COMPARED) return didYouMean(type, names);
    const near = names.filter((name) => isNear(name, type)).slice(0, MOST_NAMES_COMPARED);
    const nearest = closest(type, near);
    return nearest === null ? "List event types to see their names." : `Did you mean ${nearest}?`;
  }

  #names(): string[] {
    const stored = [...this.#types]
      .filter(([, versions]) => [...versions.values()].some(({ isDeleted }) => !isDeleted))
      .map(([name]) => name);
    return [...new Set([...stored, ...this.#declared.types.keys()])];
  }
}

/** Whether two names differ only by a few characters in one place. */
function isNear(a: string, b: string): boolean {
  const longest = Math.max(a.length, b.length);
  const shortest = Math.min(a.length, b.length);
  let start = 0;
  while (start < shortest && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shortest - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return longest - start - end <= 4;
}

export function storedCatalogue(row: unknown): StoredCatalogue {
  return JSON.parse((row as { catalogue: string }).catalogue) as StoredCatalogue;
}

export function refusal({ code, pointer, message }: EventProblem): PosthornError {
  return problemAt(code, pointer, message);
}

function parsed(payload: Uint8Array): unknown {
  return JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString("utf8"));
}
