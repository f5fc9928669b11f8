// Rebuilds the request of an attempt from the event, the endpoint and the time, with the code that builds every request.
// `differences` lists what may differ from the request that was sent.
import { headerNames, isReservedHeader, schemeNamed } from "@posthorn/wire";
import { wireHeaders } from "../../attempt/wire-headers.ts";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { REDACTED, redactEvent, redactedPathsOf } from "../../catalogue/redact.ts";
import { withoutToken } from "../../destinations/webhook/authorize.ts";
import { vendorStyleOf } from "../../destinations/webhook/vendor-style.ts";
import { PosthornError } from "../../errors.ts";
import type {
  ClaimedDelivery,
  Event,
  PreparedRequest,
  SignatureSettings,
  Target,
  Uuid,
} from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { findAttempt } from "../../storage/queries/attempts.ts";
import type { DeliveryRow } from "../../storage/queries/deliveries/read.ts";
import { findEvent } from "../../storage/queries/events/list.ts";
import type { PastTarget } from "../endpoints/targets.ts";
import { readFilters, toDate } from "../page.ts";
import { boolean, integer, unchecked } from "../read-fields.ts";
import { findDelivery } from "./deliveries.ts";

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
  readonly redactsSettings?: boolean | undefined;
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
  /** Empty if the request is byte for byte what was sent, except for redacted parts. */
  readonly differences: readonly Difference[];
  /** The redacted parts: `url`, `body`, or names of headers. */
  readonly redactedParts: readonly string[];
}

export type ShowRequest = (id: string, query?: SentRequestQuery) => Promise<SentRequest>;

export interface SentRequestOptions {
  readonly db: Queryable;
  readonly catalogue: Pick<Catalogue, "refresh" | "redactedPaths">;
  /** Returns null for a deleted endpoint. */
  readonly targetAt: (endpointId: Uuid, at: Date) => Promise<PastTarget | null>;
  readonly now: () => Date;
  /** If attempts are traced, each has its own traceparent, which is not stored. */
  readonly isTraced: () => boolean;
}

export function createShowRequest(options: SentRequestOptions): ShowRequest {
  const { db, catalogue, targetAt, now, isTraced } = options;

  return async (id, query = {}) => {
    const { attempt: asked, fresh, redacted, redactsSettings } = readFilters(query, FILTERS);
    const isFresh = fresh === true;
    const delivery = await findDelivery(db, id, query.tenant);
    const attempt = await findAttempt(db, delivery.id, asked);
    // a delivery without attempts can still be signed freshly
    if (attempt === null && (!isFresh || asked !== null)) throw noSuchAttempt(asked);
    const number = attempt?.number ?? 1;
    const event = await findEvent(db, delivery.eventId, null);
    if (event === null)
      throw new PosthornError(
        "event_not_found",
        `The event evt_${delivery.eventId} was deleted, so its requests cannot be rebuilt.`,
      );
    const signedAt = isFresh ? now() : toDate(attempt?.startedMs);
    const past = await targetAt(delivery.endpointId, signedAt ?? now());
    if (past === null)
      throw new PosthornError(
        "endpoint_deleted",
        "The endpoint and its secrets were deleted, so its requests cannot be rebuilt.",
      );
    const { isPublic } = past.target.destination;
    const paths = redacted === true || isPublic ? await redactedPaths(event) : [];
    const claimed = toClaimedDelivery(delivery, redactEvent(event, paths), number);
    const request = buildRequest(claimed, past.target, signedAt ?? new Date(0));
    const shown = new Masking(request, past.target);
    if (signedAt === null) shown.maskTimestamps();
    if (redactsSettings === true) shown.maskSettings();
    if (redactsSettings === true || redacted === true) shown.maskSignatures();
    // The body was masked before signing. For a public destination that is what was sent, so it is not listed.
    if (paths.length > 0 && !isPublic) shown.redactedParts.push("body");
    return {
      attempt: number,
      method: "POST",
      url: shown.url,
      headers: shown.headers,
      body: Buffer.from(request.body),
      signedAt,
      isFresh,
      differences: isFresh ? [FRESH] : differencesOf(past, signedAt, isTraced()),
      redactedParts: shown.redactedParts,
    };
  };

  async function redactedPaths(event: Event): Promise<readonly string[]> {
    await catalogue.refresh();
    return redactedPathsOf(event, (type, version) => catalogue.redactedPaths(type, version));
  }

  function buildRequest(delivery: ClaimedDelivery, target: Target, at: Date): PreparedRequest {
    try {
      const { traceparent } = delivery.event;
      const request = target.destination.request(
        delivery,
        target,
        { startedAt: at, traceparent },
        target.userAgent,
      );
      if (request === null) throw new Error("nothing is sent to this endpoint over HTTP.");
      return request;
    } catch (error) {
      if (error instanceof PosthornError) throw error;
      const { message } = error as Error;
      throw new PosthornError("request_not_built", `The request cannot be built: ${message}`, {
        cause: error,
      });
    }
  }
}

const HIGHEST_ATTEMPT = 1_000_000;

const FILTERS = {
  tenant: unchecked<string>(),
  attempt: integer(1, HIGHEST_ATTEMPT),
  fresh: boolean,
  redacted: boolean,
  redactsSettings: boolean,
};

/** Returns the delivery as it was claimed for the attempt, in the fields that affect the request. */
function toClaimedDelivery({ id, endpointId }: DeliveryRow, event: Event, number: number): ClaimedDelivery {
  return {
    id,
    event,
    endpointId,
    attempts: number - 1,
    failures: 0,
    scheduleStartedMs: 0,
    trigger: "retry",
    isOrdered: false,
    claimBatch: null,
  };
}

/** Masks parts of a request, and records which. Tokens are always masked. */
class Masking {
  url: string;
  readonly headers: Record<string, string>;
  readonly redactedParts: string[] = [];
  readonly #custom: readonly string[];
  readonly #signed: readonly string[];

  constructor(request: PreparedRequest, { headers, signature, authorization }: Target) {
    this.url = request.url;
    this.headers = wireHeaders(request.headers);
    const signatures = signatureHeaders(signature);
    this.#signed = Object.keys(this.headers).filter((name) => signatures.has(name.toLowerCase()));
    this.#custom = Object.keys(headers).filter((name) => !isReservedHeader(name, signature.headerPrefix));
    if (authorization?.type === "bearer") this.#mask(["Authorization"], REDACTED);
    if (authorization?.type === "query") this.#maskUrl(withoutToken(this.url, REDACTED));
    this.#mask(vendorStyleOf(signature).tokens, REDACTED);
  }

  /** The URL's query and custom headers may contain the receiver's credentials. */
  maskSettings(): void {
    const mark = this.url.indexOf("?");
    if (mark !== -1) this.#maskUrl(`${this.url.slice(0, mark + 1)}${REDACTED}`);
    this.#mask(this.#custom, REDACTED);
  }

  /** Receivers accept a recent signature for minutes, with some schemes forever. */
  maskSignatures(): void {
    this.#mask(this.#signed, REDACTED);
  }

  maskTimestamps(): void {
    const times = Object.keys(this.headers).filter(
      (name) => /timestamp/i.test(name) && !this.#custom.includes(name),
    );
    this.#mask([...this.#signed, ...times], "[unknown]");
  }

  #maskUrl(url: string): void {
    this.url = url;
    this.#note("url");
  }

  #mask(names: Iterable<string>, mask: string): void {
    for (const name of names) {
      if (this.headers[name] === undefined) continue;
      this.headers[name] = mask;
      this.#note(name);
    }
  }

  #note(part: string): void {
    if (!this.redactedParts.includes(part)) this.redactedParts.push(part);
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
        "The worker died before it recorded the start of the attempt, so the timestamp and signatures are unknown.",
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
