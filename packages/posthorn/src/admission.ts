// What is published comes in here: shaped by the types of the code, checked as an event, and held against the catalogue.
import { type Catalogue, refusal, storedCatalogue } from "./catalogue/catalogue.ts";
import type { DeclaredTypes } from "./catalogue/declared-types.ts";
import { PosthornError } from "./errors.ts";
import { refuseNoTransaction, type Transaction } from "./event/publish-in-transaction.ts";
import { type UserPublishInput, validateForUser } from "./event/user-event.ts";
import {
  type Failure,
  noneOf,
  type PublishInput,
  type ValidEvent,
  validate,
  validateAll,
} from "./event/validate.ts";
import { catalogueStatement } from "./storage/queries/event-types/read.ts";
import { inSchema } from "./storage/sql.ts";

export interface AdmissionOptions {
  readonly catalogue: Catalogue;
  readonly declared: DeclaredTypes;
  readonly schema: string;
  readonly nowMs: () => number;
}

export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** A promise only where there is something to wait for: without a catalogue publishing stays as quick as it is. */
  admit(input: PublishInput, tx?: { readonly tx: Transaction }): ValidEvent | Promise<ValidEvent> {
    if (this.#isOpen) return validate(input, this.#options.nowMs());
    return this.#checked(input, (resolved) => validate(resolved, this.#options.nowMs()), tx);
  }

  async admitForUser(input: UserPublishInput, tx?: { readonly tx: Transaction }): Promise<ValidEvent> {
    return await this.#checked(input, (resolved) => validateForUser(resolved, this.#options.nowMs()), tx);
  }

  /** One wrong event, and none comes in. */
  admitAll(inputs: readonly PublishInput[]): ValidEvent[] | Promise<ValidEvent[]> {
    if (this.#isOpen) return validateAll(inputs, this.#options.nowMs());
    return this.#allChecked(inputs);
  }

  get #isOpen(): boolean {
    const { catalogue, declared } = this.#options;
    return catalogue.isIdle && declared.isEmpty;
  }

  async #checked<Input extends PublishInput | UserPublishInput>(
    input: Input,
    valid: (resolved: Input) => ValidEvent,
    tx: { readonly tx: Transaction } | undefined,
  ): Promise<ValidEvent> {
    const { catalogue, declared } = this.#options;
    const event = valid(await declared.resolve(input));
    if (catalogue.isIdle) return event;
    const [problem] = await catalogue.problemsOf([event.event], tx && this.#readIn(tx.tx));
    if (problem) throw refusal(problem);
    return event;
  }

  async #allChecked(inputs: readonly PublishInput[]): Promise<ValidEvent[]> {
    const { catalogue, declared, nowMs } = this.#options;
    // what is no list is refused below
    const given = Array.isArray(inputs) ? inputs : [];
    const failures: Failure[] = [];
    const resolved = await Promise.all(
      given.map(async (input, index) => {
        try {
          return await declared.resolve(input);
        } catch (error) {
          if (!(error instanceof PosthornError)) throw error;
          failures.push({ index, error });
          return input;
        }
      }),
    );
    if (failures.length > 0) throw noneOf(inputs.length, failures);
    const events = validateAll(Array.isArray(inputs) ? resolved : inputs, nowMs());
    if (catalogue.isIdle) return events;
    const problems = await catalogue.problemsOf(events.map(({ event }) => event));
    for (const [index, problem] of problems.entries()) {
      if (problem !== null) failures.push({ index, error: refusal(problem) });
    }
    if (failures.length > 0) throw noneOf(inputs.length, failures);
    return events;
  }

  /** Through the caller's own connection: it may hold the last one of its pool. */
  #readIn(tx: Transaction) {
    refuseNoTransaction(tx);
    const text = inSchema(catalogueStatement.text, this.#options.schema);
    return async (version: number) => {
      const { rows } = await tx.query(text, [String(version)]);
      return storedCatalogue(rows[0]);
    };
  }
}
