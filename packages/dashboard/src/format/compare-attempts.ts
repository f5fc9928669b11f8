// What differs between two attempts of a delivery: outcome, phases, request and response.
import type { Attempt, DeliveryRequest } from "@posthorn/client";
import { type AttemptWaits, attemptWaits } from "./attempt-waits.ts";
import { differences } from "./differences.ts";

export interface ComparedAttempt {
  readonly attempt: Attempt;
  /** The attempt before it. */
  readonly previous: Attempt | undefined;
  readonly request: Pick<DeliveryRequest, "method" | "url" | "headers" | "body">;
}

/** A field of which both values are known; null: the attempt has none. */
export interface ComparedField<Value = string> {
  readonly name: string;
  readonly values: readonly [Value | null, Value | null];
}

export interface AttemptComparison {
  readonly outcome: readonly ComparedField[];
  /** In milliseconds. */
  readonly phases: readonly ComparedField<number>[];
  readonly requestHeaders: readonly ComparedField[];
  /** By JSON Pointer if both are JSON; else the whole bodies under an empty name. Empty if they are the same. */
  readonly requestBody: readonly ComparedField[];
  readonly responseBody: readonly ComparedField[];
}

export type PhaseName = keyof AttemptWaits | "connect_ms" | "tls_ms" | "first_byte_ms" | "body_ms";

const MAX_DIFFERENCES = 200;

/** Lists only what differs. */
export function compareAttempts(first: ComparedAttempt, second: ComparedAttempt): AttemptComparison {
  return {
    outcome: different(fields(outcomeOf(first), outcomeOf(second))),
    phases: different(fields(phasesOf(first), phasesOf(second))),
    requestHeaders: different(fields(headersOf(first), headersOf(second))),
    requestBody: bodies(first.request.body, second.request.body),
    responseBody: bodies(first.attempt.response_body, second.attempt.response_body),
  };
}

type Values<Value> = Readonly<Record<string, Value | null>>;

function outcomeOf({ attempt: { status_code, error, trigger } }: ComparedAttempt): Values<string> {
  return { status: status_code === null ? error : `HTTP ${status_code}`, trigger };
}

function phasesOf({ attempt, previous }: ComparedAttempt): Values<number> {
  const { queue_ms: _, ...network } = attempt.phases;
  return { ...attemptWaits(attempt, previous), ...network };
}

function headersOf({ request: { method, url, headers } }: ComparedAttempt): Values<string> {
  return { [method]: url, ...headers };
}

function fields<Value>(first: Values<Value>, second: Values<Value>): ComparedField<Value>[] {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  return [...names].map((name) => ({ name, values: [first[name] ?? null, second[name] ?? null] }));
}

function different<Value>(compared: readonly ComparedField<Value>[]): readonly ComparedField<Value>[] {
  return compared.filter(({ values: [first, second] }) => first !== second);
}

function bodies(first: string | null, second: string | null): readonly ComparedField[] {
  if (first === second) return [];
  const [before, after] = [parsed(first), parsed(second)];
  if (before === undefined || after === undefined) return [{ name: "", values: [first, second] }];
  return differences(before, after, MAX_DIFFERENCES).map(({ pointer, kind, before, after }) => ({
    name: pointer,
    values: [
      kind === "added" ? null : JSON.stringify(before),
      kind === "removed" ? null : JSON.stringify(after),
    ],
  }));
}

function parsed(body: string | null): unknown {
  try {
    return body === null ? undefined : JSON.parse(body);
  } catch {
    return undefined;
  }
}
