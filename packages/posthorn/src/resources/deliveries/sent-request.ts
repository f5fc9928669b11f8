// Rebuilds the request of an attempt from the event, the endpoint and the time, with the code that builds every request.
// `differences` lists what may differ from the request that was sent.
import { headerNames, isReservedHeader, parseId, schemeNamed } from "@posthorn/wire";
import { wireHeaders } from "../../attempt/wire-headers.ts";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { REDACTED, redactEvent } from "../../catalogue/redact.ts";
import { redactedPathsOf } from "../../catalogue/redacted-paths.ts";
import { withoutToken } from "../../destinations/webhook/authorize.ts";
import { vendorStyleOf } from "../../destinations/webhook/signing/vendor-style.ts";
import { refuseUnknown } from "../../did-you-mean.ts";
import { PosthornError } from "../../errors.ts";
import type {
  AuthorizationType,
  ClaimedDelivery,
  Event,
  PreparedRequest,
  SignatureSettings,
  Target,
  Uuid,
} from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { type AttemptRow, findAttempt } from "../../storage/queries/attempts/list.ts";
import type { DeliveryRow } from "../../storage/queries/deliveries/delivery-row.ts";
import { findDeliveries } from "../../storage/queries/deliveries/find.ts";
import { findEvent } from "../../storage/queries/events/list.ts";
import type { PastTarget } from "../endpoints/targets.ts";
import { QueryReader } from "../page.ts";
import { deliveryNotFound } from "./deliveries.ts";

export interface SentRequestQuery {
  /** Another tenant's delivery is not found. */
  readonly tenant?: string | undefined;
  /** Number of the attempt. Default: the last one. */
  readonly attempt?: number | undefined;
  /** Signs with the current time, so that a receiver accepts the request. Default false. */
  readonly fresh?: boolean | undefined;
  /** Masks redacted paths and signatures. Default false. */
  readonly redacted?: boolean | undefined;
  /** Masks values of custom headers, the URL's query and signatures. Default false. */
  readonly hidesSettings?: boolean | undefined;
}

export interface Difference {
  readonly reason: "settings_changed" | "time_unknown" | "traced" | "freshly_signed";
  readonly detail: string;
}

export interface SentRequest {
  readonly attempt: number;
  readonly method: "POST";
  readonly url: string;
  /** All headers except Host, Connection and Content-Length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Null if the worker died before it recorded the time. */
  readonly signedAt: Date | null;
  readonly isFresh: boolean;
  /** Empty if the request is byte for byte what was sent, except for masked parts. */
  readonly differences: readonly Difference[];
  /** The masked parts: `url`, `body`, or names of headers. */
  readonly masked: readonly string[];
}

export type ShowRequest = (id: string, query?: SentRequestQuery) => Promise<SentRequest>;

export interface SentRequestOptions {
  readonly db: Queryable;
  readonly catalogue: Pick<Catalogue, "refresh" | "redactedPaths">;
  /** Returns null for a deleted endpoint. */
  readonly targetAt: (endpointId: Uuid, at: Date) => Promise<PastTarget | null>;
  readonly now: () => Date;
  readonly userAgent: string;
  /** If attempts are traced, each has its own traceparent, which is not stored. */
  readonly isTraced: () => boolean;
}

export function createShowRequest(options: SentRequestOptions): ShowRequest {
  const { db, catalogue, targetAt, now, userAgent, isTraced } = options;

  return async (id, query = {}) => {
    const asked = readQuery(query);
    const delivery = await known(id, asked.tenant);
    const attempt = await attemptOf(delivery, asked);
    const event = await findEvent(db, delivery.eventId, null);
    if (event === null) throw eventGone(delivery);
    const signedAt = asked.isFresh ? now() : attempt.startedAt;
    const past = await targetAt(delivery.endpointId, signedAt ?? now());
    if (past === null) throw endpointGone();
    const { isPublic } = past.target.destination;
    const paths = asked.redacted || isPublic ? await redactedPaths(event) : [];
    const claimed = claimedAgain(delivery, redactEvent(event, paths), attempt.number);
    const request = make(claimed, past.target, signedAt ?? new Date(0));
    const {
      url,
      headers,
      masked: names,
    } = maskedFor(asked, new Masking(request, past.target), {
      isTimeKnown: signedAt !== null,
      // a public destination was sent the redacted body
      isBodyMasked: paths.length > 0 && !isPublic,
    });
    return {
      attempt: attempt.number,
      method: "POST",
      url,
      headers,
      body: Buffer.from(request.body),
      signedAt,
      isFresh: asked.isFresh,
      differences: asked.isFresh ? [FRESH] : differencesOf(past, signedAt, isTraced()),
      masked: names,
    };
  };

  async function known(id: string, tenant: string | null): Promise<DeliveryRow> {
    const uuid = parseId("dlv", String(id));
    const [row] = uuid === null ? [] : await findDeliveries(db, [uuid]);
    if (row === undefined || (tenant !== null && row.tenant !== tenant)) throw deliveryNotFound(id);
    return row;
  }

  async function attemptOf(
    delivery: DeliveryRow,
    { attempt, isFresh }: AskedRequest,
  ): Promise<{ readonly number: number; readonly startedAt: Date | null }> {
    const found = await findAttempt(db, delivery.id, attempt);
    if (found !== null) return { number: found.number, startedAt: startOf(found) };
    // a delivery without attempts can still be signed freshly
    if (isFresh && attempt === null) return { number: 1, startedAt: null };
    throw noSuchAttempt(attempt);
  }

  async function redactedPaths(event: Event): Promise<readonly string[]> {
    await catalogue.refresh();
    return redactedPathsOf(event, (type, version) => catalogue.redactedPaths(type, version));
  }

  function make(delivery: ClaimedDelivery, target: Target, at: Date): PreparedRequest {
    try {
      const { traceparent } = delivery.event;
      const request = target.destination.request(delivery, target, { startedAt: at, traceparent }, userAgent);
      if (request === null) throw new Error("nothing is sent to this endpoint over HTTP.");
      return request;
    } catch (error) {
      if (error instanceof PosthornError) throw error;
      throw notMade(error as Error);
    }
  }
}

interface AskedRequest {
  readonly tenant: string | null;
  readonly attempt: number | null;
  readonly isFresh: boolean;
  readonly redacted: boolean;
  readonly hidesSettings: boolean;
}

const HIGHEST_ATTEMPT = 1_000_000;

function readQuery(query: SentRequestQuery): AskedRequest {
  const known = ["tenant", "attempt", "fresh", "redacted", "hidesSettings"];
  refuseUnknown("There is no scope", query, known, "invalid_query");
  const reader = new QueryReader();
  const asked = {
    tenant: query.tenant === undefined ? null : String(query.tenant),
    attempt: reader.whole("attempt", query.attempt, 1, HIGHEST_ATTEMPT),
    isFresh: reader.yesOrNo("fresh", query.fresh),
    redacted: reader.yesOrNo("redacted", query.redacted),
    hidesSettings: reader.yesOrNo("hidesSettings", query.hidesSettings),
  };
  reader.finish(known, query);
  return asked;
}

function startOf({ startedMs }: AttemptRow): Date | null {
  return startedMs === null ? null : new Date(startedMs);
}

/** Returns the delivery as it was claimed for the attempt, in the fields that affect the request. */
function claimedAgain({ id, endpointId }: DeliveryRow, event: Event, number: number): ClaimedDelivery {
  return {
    id,
    event,
    endpointId,
    attempts: number - 1,
    failures: 0,
    scheduleStartedMs: 0,
    trigger: "retry",
    isOrdered: false,
  };
}

function maskedFor(
  { redacted, hidesSettings }: AskedRequest,
  masking: Masking,
  { isTimeKnown, isBodyMasked }: { readonly isTimeKnown: boolean; readonly isBodyMasked: boolean },
): Masking {
  if (!isTimeKnown) masking.hideTime();
  if (hidesSettings) masking.hideSettings();
  if (hidesSettings || redacted) masking.hideSignatures();
  if (isBodyMasked) masking.noteBody();
  return masking;
}

/** Masks parts of a request, and records which. */
class Masking {
  url: string;
  readonly headers: Record<string, string>;
  readonly masked: string[] = [];
  readonly #custom: readonly string[];
  readonly #signatures: ReadonlySet<string>;

  constructor(request: PreparedRequest, { headers, signature, authorization }: Target) {
    this.#signatures = signatureHeaders(signature);
    this.url = request.url;
    this.headers = Object.fromEntries(pairs(wireHeaders(request.headers) ?? []));
    if (authorization !== null) this.#hideToken(authorization.type);
    for (const name of vendorStyleOf(signature).tokens) this.#hide(name, REDACTED);
    this.#custom = Object.keys(headers).filter((name) => !isReservedHeader(name, signature.headerPrefix));
  }

  /** Tokens are always masked. */
  #hideToken(type: AuthorizationType): void {
    if (type === "bearer") this.#hide("Authorization", REDACTED);
    else {
      this.url = withoutToken(this.url, REDACTED);
      this.masked.push("url");
    }
  }

  /** The URL's query and custom headers may contain the receiver's credentials. */
  hideSettings(): void {
    const mark = this.url.indexOf("?");
    if (mark !== -1) {
      this.url = `${this.url.slice(0, mark + 1)}${REDACTED}`;
      if (!this.masked.includes("url")) this.masked.push("url");
    }
    for (const name of this.#custom) this.#hide(name, REDACTED);
  }

  /** Receivers accept a recent signature for minutes, with some schemes for ever. */
  hideSignatures(): void {
    for (const name of this.#signed()) this.#hide(name, REDACTED);
  }

  hideTime(): void {
    for (const name of [...this.#signed(), ...this.#ours(/timestamp/i)]) this.#hide(name, UNKNOWN);
  }

  /** The body was masked before signing. */
  noteBody(): void {
    this.masked.push("body");
  }

  #signed(): string[] {
    return Object.keys(this.headers).filter((name) => this.#signatures.has(name.toLowerCase()));
  }

  #ours(pattern: RegExp): string[] {
    return Object.keys(this.headers).filter((name) => pattern.test(name) && !this.#custom.includes(name));
  }

  #hide(name: string, mask: string): void {
    if (this.headers[name] === undefined) return;
    this.headers[name] = mask;
    if (!this.masked.includes(name)) this.masked.push(name);
  }
}

/** In lower case. */
function signatureHeaders({ schemes, headerPrefix }: SignatureSettings): ReadonlySet<string> {
  const names = headerNames(headerPrefix);
  const written = schemes.flatMap((name) => {
    const { signature, signatureNext } = schemeNamed(name).headers;
    return [signature(names), signatureNext?.(names) ?? signature(names)];
  });
  return new Set(written.map((name) => name.toLowerCase()));
}

const UNKNOWN = "[unknown]";

function pairs(list: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let at = 0; at < list.length; at += 2) found.push([list[at] as string, list[at + 1] as string]);
  return found;
}

const FRESH: Difference = {
  reason: "freshly_signed",
  detail: "The request was signed just now: its timestamp and signatures are new.",
};

function differencesOf(past: PastTarget, signedAt: Date | null, isTraced: boolean): Difference[] {
  const differences: Difference[] = [];
  if (signedAt === null) {
    differences.push({
      reason: "time_unknown",
      detail:
        "The worker died before it recorded when it began, so the timestamp and signatures are unknown.",
    });
  } else if (past.changedAt > signedAt) {
    differences.push({
      reason: "settings_changed",
      detail: `The endpoint or its secrets were changed at ${past.changedAt.toISOString()}, after the attempt. This request uses the current settings.`,
    });
  }
  if (isTraced) {
    differences.push({
      reason: "traced",
      detail: "Attempts are traced, and each had its own traceparent, which is not stored.",
    });
  }
  return differences;
}

function noSuchAttempt(attempt: number | null): PosthornError {
  const message =
    attempt === null
      ? "The delivery has no attempt yet. Wait for the first one, or ask for a fresh request."
      : `The delivery has no attempt ${attempt}. Get the delivery to see its attempts.`;
  return new PosthornError("attempt_not_found", message);
}

function eventGone({ eventId }: DeliveryRow): PosthornError {
  return new PosthornError(
    "event_not_found",
    `The event evt_${eventId} was deleted, so its requests cannot be rebuilt.`,
  );
}

function endpointGone(): PosthornError {
  return new PosthornError(
    "endpoint_deleted",
    "The endpoint and its secrets were deleted, so its requests cannot be rebuilt.",
  );
}

function notMade(cause: Error): PosthornError {
  return new PosthornError("request_not_made", `The request cannot be built: ${cause.message}`, { cause });
}
