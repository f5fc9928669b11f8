// The delivery contract: what receivers can rely on and must do, computed from the settings in effect.
import { type EffectiveSettings, maxAttempts, type SecretEncoding, schemeNamed } from "@posthorn/wire";
import type { FormatContext, RetryPolicy, TargetAuthorization } from "../../model.ts";
import { nextDelayMs } from "../../settle/retry-schedule.ts";
import {
  type ContractHeader,
  EXAMPLE_EVENT_ID,
  type ExampleRequest,
  exampleRequest,
  exampleSecret,
} from "./example-request.ts";
import { type ContractError, type ContractResponse, errorsOf, responsesOf } from "./responses.ts";
import { keyOf, type SchemeFacts, schemeFacts } from "./scheme-facts.ts";
import { messageSnippetsFor } from "./snippets/messages/messages.ts";
import { TOLERANCE_SECONDS } from "./snippets/snippet.ts";
import { type Snippet, snippetsFor } from "./snippets/snippets.ts";

/** The settings of an endpoint, or the deployment's for all that an endpoint does not set. */
export type ContractSettings = Pick<
  EffectiveSettings,
  | "format"
  | "envelopeFields"
  | "signature"
  | "userAgent"
  | "timeoutMs"
  | "maxInFlight"
  | "maxInFlightBurst"
  | "rateLimit"
  | "retryPolicy"
  | "retryOn"
  | "ordering"
  | "fifoOnDead"
  | "circuitBreaker"
  | "disableAfter"
> & {
  /** Names of custom headers. */
  readonly headers: readonly string[];
  readonly authorization: { readonly type: TargetAuthorization["type"] } | null;
  readonly handshake: { readonly origin: string } | null;
};

export interface ContractDeployment {
  readonly apiVersion: string;
  readonly formatContext: FormatContext;
  readonly retentionDays: number;
}

export interface ContractSignature {
  readonly scheme: string;
  /** Null for HTTP Message Signatures (RFC 9421): their headers state what is signed. */
  readonly facts: (Omit<SchemeFacts, "scheme"> & { readonly toleranceSeconds: number | null }) | null;
  readonly snippets: readonly Snippet[];
}

export interface DeliveryContract {
  readonly request: {
    readonly method: "POST";
    readonly timeoutMs: number;
    readonly format: ContractSettings["format"];
    readonly contentType: string | null;
    readonly headerPrefix: string;
    readonly headers: readonly ContractHeader[];
    /** A body in this format. */
    readonly body: string;
    readonly followsRedirects: false;
  };
  readonly signatures: readonly ContractSignature[];
  /** The secret that signed the example. */
  readonly exampleSecret: string;
  readonly responses: readonly ContractResponse[];
  readonly errors: readonly ContractError[];
  readonly retries: ContractRetries;
  readonly ordering: { readonly mode: "none" | "fifo"; readonly onDead: "pass" | "hold" };
  readonly duplicates: {
    /** The header that has the event's id. Null if none has it. */
    readonly idHeader: string | null;
    /** The member of the body that has it. Null if none has it. */
    readonly idInBody: string | null;
    /** The longest time from the first to the last automatic attempt, without waits for circuit and limits. */
    readonly retriedForMs: number;
    /** Finished events can be replayed for this long. */
    readonly replayableDays: number;
  };
  readonly pace: {
    readonly maxInFlight: number;
    readonly maxInFlightBurst: number;
    readonly rateLimit: number | null;
  };
  readonly failures: {
    readonly circuitFailures: number;
    readonly circuitFailurePercent: number;
    readonly circuitFailuresPerHour: number;
    readonly circuitPauseMs: number;
    readonly disableAfterFailures: number;
    readonly disableAfterDays: number;
  };
}

export interface ContractRetries {
  readonly maxAttempts: number;
  /** No attempt is made when the event is older. Null: no limit. */
  readonly maxAgeMs: number | null;
  /** The wait after each failed attempt, shortest and longest. */
  readonly waits: readonly { readonly minMs: number; readonly maxMs: number }[];
}

export function deliveryContract(
  settings: ContractSettings,
  { apiVersion, formatContext, retentionDays }: ContractDeployment,
  secretEncoding: SecretEncoding,
): DeliveryContract {
  const { format, signature, timeoutMs, retryPolicy, retryOn, circuitBreaker, disableAfter } = settings;
  const example = exampleRequest({
    format,
    formatContext: { ...formatContext, envelopeFields: settings.envelopeFields },
    signature,
    timeoutMs,
    userAgent: settings.userAgent,
    apiVersion,
    headers: Object.fromEntries(settings.headers.map((name) => [name, "…"])),
    authorization: settings.authorization && { ...settings.authorization, token: "TOKEN" },
    handshakeOrigin: settings.handshake?.origin ?? null,
    secretEncoding,
  });
  const retries = retriesOf(retryPolicy);
  return {
    request: {
      method: "POST",
      timeoutMs,
      format,
      contentType: example.contentType,
      headerPrefix: signature.headerPrefix,
      headers: example.headers,
      body: example.body,
      followsRedirects: false,
    },
    signatures: signature.schemes.map((name) => signatureOf(name, signature.headerPrefix, secretEncoding)),
    exampleSecret: exampleSecret(secretEncoding).text,
    responses: responsesOf(retryOn),
    errors: errorsOf(retryOn),
    retries,
    ordering: { mode: settings.ordering, onDead: settings.fifoOnDead },
    duplicates: {
      ...idOf(example),
      retriedForMs: Math.min(
        retries.waits.reduce((sum, { maxMs }) => sum + maxMs, 0),
        retries.maxAgeMs ?? Number.POSITIVE_INFINITY,
      ),
      replayableDays: retentionDays,
    },
    pace: {
      maxInFlight: settings.maxInFlight,
      maxInFlightBurst: Math.max(settings.maxInFlight, settings.maxInFlightBurst),
      rateLimit: settings.rateLimit,
    },
    failures: {
      circuitFailures: circuitBreaker.failures,
      circuitFailurePercent: circuitBreaker.failurePercent,
      circuitFailuresPerHour: circuitBreaker.failuresPerHour,
      circuitPauseMs: circuitBreaker.pauseMs,
      disableAfterFailures: disableAfter.failures,
      disableAfterDays: disableAfter.days,
    },
  };
}

function signatureOf(name: string, headerPrefix: string, secretEncoding: SecretEncoding): ContractSignature {
  const facts = schemeFacts(schemeNamed(name), headerPrefix, secretEncoding);
  if (facts === null) {
    const snippets = messageSnippetsFor(keyOf(schemeNamed(name), secretEncoding));
    return { scheme: name, facts: null, snippets };
  }
  const { scheme, ...rest } = facts;
  const isTimed = facts.timestamp !== null || facts.timeInBody !== null;
  const toleranceSeconds = isTimed ? TOLERANCE_SECONDS : null;
  return { scheme, facts: { ...rest, toleranceSeconds }, snippets: snippetsFor(facts) };
}

function retriesOf(policy: RetryPolicy): ContractRetries {
  const attempts = maxAttempts(policy);
  // the age is limited by `maxAgeMs`, not by the number of waits
  const ageMs = Number.NEGATIVE_INFINITY;
  const wait = (failures: number, chance: number) =>
    nextDelayMs(policy, failures, { random: () => chance, ageMs }) ?? 0;
  return {
    maxAttempts: attempts,
    maxAgeMs: policy.maxAgeMs ?? null,
    waits: Array.from({ length: attempts - 1 }, (_, index) => ({
      minMs: wait(index + 1, 0),
      maxMs: wait(index + 1, 1),
    })),
  };
}

function idOf({ headers, body }: ExampleRequest) {
  const id = headers.find(({ meaning }) => meaning === "event_id");
  const parsed = JSON.parse(body) as unknown;
  const first = Array.isArray(parsed) ? parsed[0] : parsed;
  // the envelope's fields may have other names
  const [member] = Object.entries(first as object).find(([, value]) => value === EXAMPLE_EVENT_ID) ?? [];
  return { idHeader: id?.name ?? null, idInBody: member ?? null };
}
