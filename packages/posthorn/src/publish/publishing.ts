// The ways to publish: one event or many, in the caller's transaction, for a user, started or not.
import { refuseUnknown } from "../did-you-mean.ts";
import { PosthornError, problemAt } from "../errors.ts";
import type { PublishInput, ValidEvent } from "../event/validate.ts";
import type { Observer } from "../observe/observer.ts";
import type { Span } from "../observe/tracing.ts";
import { invalid } from "../option-checks.ts";
import { type Database, isConflict } from "../storage/database.ts";
import type { Admission } from "./admission.ts";
import type { PublishResult } from "./pending-events.ts";
import { stoppedError } from "./publish-errors.ts";
import { type PublishStatement, publishInTransaction, statementOf } from "./publish-in-transaction.ts";
import type { Publishers } from "./publishers.ts";
import { isOfKnownLibrary, type Transaction } from "./transaction-libraries.ts";
import { isForUser, publishForUser, type UserPublishInput, type UserPublishResult } from "./user-event.ts";

/** The part of a started engine that publishes. */
export interface PublishingEngine {
  readonly publishers: Publishers;
  /** Woken when events were added to the outbox. */
  readonly relay: { wake(): void };
}

export type PublishOutcome =
  | { readonly ok: true; readonly result: PublishResult }
  | { readonly ok: false; readonly error: PosthornError };

export interface PublishingOptions {
  readonly db: Database;
  readonly admission: Admission;
  readonly observer: Observer;
  /** Undefined until the instance is started. */
  readonly engine: () => PublishingEngine | undefined;
  readonly isStopping: () => boolean;
  /** Throws the error with the driver's errors translated. */
  readonly rethrow: (error: unknown) => never;
}

export class Publishing {
  readonly #options: PublishingOptions;

  constructor(options: PublishingOptions) {
    this.#options = options;
  }

  async publish(
    input: PublishInput | UserPublishInput,
    options?: { readonly tx?: Transaction },
  ): Promise<PublishResult | UserPublishResult> {
    if (options !== undefined) checkPublishOptions(options);
    // an explicit `tx: undefined` is probably a mistake, and is rejected
    const own = options !== undefined && "tx" in options ? { tx: options.tx as Transaction } : undefined;
    if (isForUser(input)) return await this.#publishForUser(input, own);
    const admitted = this.#options.admission.admit(input, own);
    if (own !== undefined) {
      // errors of the caller's own transaction are thrown unchanged
      const { tx } = own;
      return await this.#traced(await admitted, (event) =>
        publishInTransaction(tx, this.#options.db.schema, event),
      );
    }
    const event = admitted instanceof Promise ? await admitted.catch(this.#options.rethrow) : admitted;
    return await this.publishAdmitted(event);
  }

  async #publishForUser(
    input: UserPublishInput,
    own: { readonly tx: Transaction } | undefined,
  ): Promise<UserPublishResult> {
    const admitted = this.#options.admission.admitForUser(input, own);
    const { user } = input;
    const publishIn = (tx: Transaction, event: ValidEvent) =>
      publishForUser(tx, this.#options.db.schema, user, event);
    if (own !== undefined)
      return await this.#traced(await admitted, (event) => publishIn(own.tx, event), user);
    const valid = await admitted.catch(this.#options.rethrow);
    if (this.#options.isStopping()) throw stoppedError();
    const published = await this.#traced(
      valid,
      (event) => {
        const inTransaction = () => this.#options.db.inOwnTransaction((tx) => publishIn(tx, event));
        // a batch takes its locks in another order: one of the two may have to start again
        return inTransaction()
          .catch((error: unknown) => (isConflict(error) ? inTransaction() : Promise.reject(error)))
          .catch(this.#options.rethrow);
      },
      user,
    );
    this.#options.engine()?.relay.wake();
    return published;
  }

  /** Returns the statement that publishes the event in a transaction that the application controls. */
  async publishStatement(input: PublishInput, more: readonly unknown[]): Promise<PublishStatement> {
    if (isForUser(input) || more[0] !== undefined) {
      throw invalid(
        "publishStatement takes an event of one tenant and no options. Publish for a user with publish(event, { tx }).",
      );
    }
    const { admission, db, rethrow } = this.#options;
    const admitted = admission.admit(input);
    const valid = admitted instanceof Promise ? await admitted.catch(rethrow) : admitted;
    return await this.#traced(valid, async (event) => statementOf(db.schema, event));
  }

  /** The event continues the span's trace, if there is one. */
  #traced<Result extends Published>(
    valid: ValidEvent,
    publish: (event: ValidEvent) => Promise<Result>,
    user?: string,
  ): Promise<Result> {
    const { observer } = this.#options;
    if (observer.loading !== undefined)
      return observer.loading.then(() => this.#traced(valid, publish, user));
    const { spans } = observer;
    return spans === null ? publish(valid) : within(spans.publishing(valid.event, user), valid, publish);
  }

  async publishMany(inputs: readonly PublishInput[], more: readonly unknown[]): Promise<PublishOutcome[]> {
    if (more[0] !== undefined) {
      throw invalid(
        "publishMany takes no options. In a transaction, call publish(event, { tx }) for each event.",
      );
    }
    const forUser = Array.isArray(inputs) ? inputs.findIndex(isForUser) : -1;
    if (forUser !== -1) throw problemAt("invalid_event", `/${forUser}/user`, TENANT_EXPECTED);
    const admitted = this.#options.admission.admitAll(inputs);
    const events = admitted instanceof Promise ? await admitted.catch(this.#options.rethrow) : admitted;
    if (this.#options.engine() !== undefined)
      return await Promise.all(events.map((event) => this.#tryToPublish(event)));
    // each in its own transaction, one after the other, to keep the order within a subject
    const outcomes: PublishOutcome[] = [];
    for (const event of events) outcomes.push(await this.#tryToPublish(event));
    return outcomes;
  }

  async #tryToPublish(event: ValidEvent): Promise<PublishOutcome> {
    try {
      return { ok: true, result: await this.publishAdmitted(event) };
    } catch (error) {
      if (error instanceof PosthornError) return { ok: false, error };
      throw error;
    }
  }

  /** Publishes an event that was admitted, or that the catalogue does not apply to. */
  publishAdmitted(event: ValidEvent): Promise<PublishResult> {
    return this.#options.isStopping() ? Promise.reject(stoppedError()) : this.#traced(event, this.#store);
  }

  #store = (event: ValidEvent): Promise<PublishResult> => {
    const { db, engine, rethrow } = this.#options;
    // Not started here: the event waits in the outbox for a process that is.
    return (
      engine()?.publishers.publish(event) ??
      db.inOwnTransaction((tx) => publishInTransaction(tx, db.schema, event)).catch(rethrow)
    );
  };
}

const TENANT_EXPECTED =
  "publishMany takes events of one tenant each. Publish for a user with publish(event), one by one.";

/** What a way of publishing returns. */
type Published = PublishResult | UserPublishResult | PublishStatement;

async function within<Result extends Published>(
  span: Span,
  valid: ValidEvent,
  publish: (event: ValidEvent) => Promise<Result>,
): Promise<Result> {
  try {
    const result = await publish({ ...valid, event: { ...valid.event, traceparent: span.traceparent } });
    span.end(attributesOf(result));
    return result;
  } catch (error) {
    span.end({}, (error as { code?: string }).code ?? "error");
    throw error;
  }
}

function attributesOf(result: Published): Parameters<Span["end"]>[0] {
  if ("events" in result) return { "posthorn.events": result.events.length };
  return "duplicate" in result ? { "posthorn.duplicate": result.duplicate } : {};
}

function checkPublishOptions(options: object): void {
  if (isOfKnownLibrary(options)) {
    throw invalid(
      "publish was given a client in place of its options, and the event would be outside your transaction: write publish(event, { tx: client }).",
    );
  }
  refuseUnknown("publish has no option", options, publishOptionNames);
}

const publishOptionNames = ["tx"];
