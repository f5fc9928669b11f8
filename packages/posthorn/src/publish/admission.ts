// Admission of published events: shaped by the declared types, validated, and checked against the catalogue.
import { type Catalogue, type Problems, refusal, storedCatalogue } from "../catalogue/catalogue.ts";
import type { DeclaredTypes } from "../catalogue/declared-types.ts";
import { PosthornError } from "../errors.ts";
import {
  CheckedJson,
  type Failure,
  noneOf,
  type PublishInput,
  type ValidEvent,
  validate,
  validateAll,
} from "../event/validate.ts";
import { CheckBudget } from "../json-schema/check-run.ts";
import { catalogueStatement } from "../storage/queries/event-types.ts";
import { inSchema } from "../storage/sql.ts";
import { queryIn, type Transaction } from "./transaction-libraries.ts";
import { type UserPublishInput, validateForUser } from "./user-event.ts";

export interface AdmissionOptions {
  readonly catalogue: Catalogue;
  readonly declared: DeclaredTypes;
  readonly schema: string;
  readonly nowMs: () => number;
  /** The version of events that name none. */
  readonly apiVersion: string;
}

export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Returns a promise only if the catalogue has to be read: nearly every event is admitted synchronously. */
  admit(input: PublishInput, tx?: { readonly tx: Transaction }): ValidEvent | Promise<ValidEvent> {
    return this.#admit(input, validate, tx);
  }

  /** Validates an event that the catalogue does not have to accept, because it is stored as rejected. */
  admitUnchecked(input: PublishInput): ValidEvent {
    const { declared, nowMs, apiVersion } = this.#options;
    const version = input.apiVersion ?? declared.types.get(input.type)?.version;
    return validate({ ...input, apiVersion: version }, nowMs(), apiVersion);
  }

  async admitForUser(input: UserPublishInput, tx?: { readonly tx: Transaction }): Promise<ValidEvent> {
    return await this.#admit(input, validateForUser, tx);
  }

  /** If any event is invalid, none is admitted. */
  admitAll(inputs: readonly PublishInput[]): ValidEvent[] | Promise<ValidEvent[]> {
    // anything but an array is rejected below
    return this.#options.declared.types.size === 0 || !Array.isArray(inputs)
      ? this.#allChecked(inputs)
      : this.#resolveAll(inputs).then((resolved) => this.#allChecked(resolved));
  }

  #admit<Input extends PublishInput | UserPublishInput>(
    input: Input,
    validated: (resolved: Input, nowMs: number, apiVersion: string) => ValidEvent,
    tx: { readonly tx: Transaction } | undefined,
  ): ValidEvent | Promise<ValidEvent> {
    const { declared, nowMs, apiVersion } = this.#options;
    return whenReady(declared.types.size === 0 ? input : declared.resolve(input), (resolved) => {
      const event = validated(resolved, nowMs(), apiVersion);
      return whenReady(this.#problemsOf([event], [resolved], tx), ([problem]) => {
        if (problem) throw refusal(problem);
        return event;
      });
    });
  }

  async #resolveAll(inputs: readonly PublishInput[]): Promise<readonly PublishInput[]> {
    const failures: Failure[] = [];
    const budget = new CheckBudget();
    const resolved = await Promise.all(
      inputs.map(async (input, index) => {
        try {
          return await this.#options.declared.resolve(input, budget);
        } catch (error) {
          if (!(error instanceof PosthornError)) throw error;
          failures.push({ index, error });
          return input;
        }
      }),
    );
    return allOrNone(resolved, failures);
  }

  #allChecked(inputs: readonly PublishInput[]): ValidEvent[] | Promise<ValidEvent[]> {
    const { nowMs, apiVersion } = this.#options;
    const events = validateAll(inputs, nowMs(), apiVersion);
    return whenReady(this.#problemsOf(events, inputs), (problems) => {
      const failures = problems.flatMap((problem, index) =>
        problem === null ? [] : [{ index, error: refusal(problem) }],
      );
      return allOrNone(events, failures);
    });
  }

  #problemsOf(
    events: readonly ValidEvent[],
    inputs: readonly (PublishInput | UserPublishInput)[],
    tx?: { readonly tx: Transaction },
  ): Problems | Promise<Problems> {
    const { catalogue } = this.#options;
    const values = inputs.map(({ rawData }) =>
      rawData instanceof CheckedJson ? rawData.takeValue() : undefined,
    );
    if (catalogue.isIdle) return [];
    return catalogue.problemsOf(
      events.map(({ event }) => event),
      values,
      tx && this.#readIn(tx.tx),
    );
  }

  /** Reads through the caller's connection, which may be the last one of its pool. */
  #readIn(tx: Transaction) {
    const { query, notInTransaction } = queryIn(tx);
    const text = inSchema(catalogueStatement.text, this.#options.schema);
    return async (version: number) => {
      const [row] = await query(text, [String(version)]);
      // a library object without a transaction sends nothing
      if (row === undefined) throw notInTransaction();
      return storedCatalogue(row);
    };
  }
}

/** Continues at once unless the value is a promise: a promise per event would slow down every publish. */
function whenReady<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}

function allOrNone<All extends readonly unknown[]>(all: All, failures: readonly Failure[]): All {
  if (failures.length > 0) throw noneOf(all.length, failures);
  return all;
}
