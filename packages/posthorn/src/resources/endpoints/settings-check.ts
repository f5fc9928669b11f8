// Reads an object of settings field by field, and collects all problems.
import { isObject } from "@posthorn/wire";
import { findUnknown } from "../../did-you-mean.ts";
import { type InputProblem, MAX_PROBLEMS, PosthornError } from "../../errors.ts";
import type { Field, Refuse } from "../read-fields.ts";

/** Refuses each unknown field, with a suggestion. `what` begins the message. */
export function refuseUnknownFields(
  what: string,
  given: object,
  known: readonly string[],
  refuse: Refuse,
): void {
  const problems: InputProblem[] = [];
  findUnknown(what, given, known, problems);
  for (const { message, pointer } of problems) refuse(message, pointer);
}

/** Fields of an endpoint that cannot be set. */
const READ_ONLY = [
  "websub",
  "id",
  "tenant",
  "disabledReason",
  "disabledAt",
  "circuit",
  "health",
  "createdAt",
  "updatedAt",
] as const;
const isReadOnly = (name: string): boolean => READ_ONLY.some((field) => field === name);

/** Read-only fields of an `Endpoint`, which an import accepts and ignores. */
export type ReadOnlyFields = { readonly [Name in (typeof READ_ONLY)[number]]?: unknown };

export function withoutReadOnly(input: unknown): unknown {
  if (!isObject(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([name]) => !isReadOnly(name)));
}

export class SettingsCheck {
  readonly #input: Readonly<Record<string, unknown>>;
  readonly #problems: InputProblem[] = [];

  constructor(input: unknown, known: readonly string[]) {
    this.#input = isObject(input) ? input : {};
    if (!isObject(input)) this.refuse("", "Give an object with the endpoint's settings.");
    const given = Object.entries(this.#input);
    const others = given.filter(([name]) => !isReadOnly(name));
    findUnknown("An endpoint has no setting", Object.fromEntries(others), known, this.#problems);
    for (const [name] of given) {
      if (isReadOnly(name)) this.refuse(`/${name}`, "This is read-only. Leave it out.");
    }
  }

  get isClean(): boolean {
    return this.#problems.length === 0;
  }

  /** Returns the current value if the field is missing or refused. */
  read<T>(field: string, current: T, reader: Field<T | undefined>): T {
    const value = this.#input[field];
    if (value === undefined) return current;
    const read = reader(value, field, (message, below = "") => this.refuse(`/${field}${below}`, message));
    return read === undefined ? current : read;
  }

  /** Returns the value before it was read. */
  given(field: string): unknown {
    return this.#input[field];
  }

  require(field: string, message: string): void {
    if (this.#input[field] === undefined) this.refuse(`/${field}`, message);
  }

  refuse(pointer: string, message: string): undefined {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ pointer, message });
    return undefined;
  }

  finish(what: string): void {
    if (this.#problems.length === 0) return;
    const messages = this.#problems.map(({ pointer, message }) =>
      pointer === "" ? message : `${pointer}: ${message}`,
    );
    throw new PosthornError("invalid_endpoint", `${what}. ${messages.join(" ")}`, {
      problems: this.#problems,
    });
  }
}
