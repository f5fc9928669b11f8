// What people who run a receiver get to know. A hook that throws harms nothing.

import type { MessageKey } from "../model.ts";
import type { RejectionReason } from "../source.ts";
import { consoleHooks, warnNotStarted } from "./console-hooks.ts";

/** Those that may be null print a line to the console unless they are given; null: silence. */
export interface Hooks {
  /** A request got nothing but 4xx. Not the sender's business: the reason is for your log. */
  readonly onRejected?: ((rejection: RejectedRequest) => unknown) | null | undefined;
  /** An id came again with another body: a mistake of the sender's, or an attack. It was answered with 422. */
  readonly onConflict?: ((conflict: MessageInfo) => unknown) | null | undefined;
  /** A handler threw, or the store could not be reached. */
  readonly onFailure?: ((failure: FailureInfo) => unknown) | null | undefined;
  /** A message became a dead letter; nobody tries it again unasked. */
  readonly onDead?: ((dead: FailureInfo) => unknown) | null | undefined;
  /** A delivery was dropped and acknowledged: a later one of its subject was applied. What the inbox drops is not told. */
  readonly onStale?: ((message: MessageInfo) => unknown) | undefined;
  /** No handler wants this type, and there is no fallback: it is acknowledged. */
  readonly onUnhandled?: ((message: MessageInfo) => unknown) | undefined;
}

export interface RejectedRequest {
  readonly status: number;
  /** Null when no source claims the request. */
  readonly source: string | null;
  readonly reason:
    | RejectionReason
    | "method"
    | "handshake"
    | "too_large"
    | "encoded"
    | "unreadable"
    | "not_an_event"
    | "invalid_data";
  /** One sentence. */
  readonly detail: string;
}

export interface MessageInfo extends MessageKey {
  readonly type: string;
}

export interface FailureInfo {
  /** Null when the store failed before there was one. */
  readonly message: MessageInfo | null;
  readonly error: unknown;
  /** This one included; 0 when it is the store that failed. */
  readonly tries: number;
}

/** Calls hooks without waiting for them. */
export class Reporter {
  readonly #hooks: Hooks;

  constructor(hooks: Hooks) {
    const given = Object.entries(hooks).filter(([, hook]) => hook !== undefined);
    this.#hooks = { ...consoleHooks(), ...Object.fromEntries(given) };
  }

  rejected(rejection: RejectedRequest): void {
    call(this.#hooks.onRejected, rejection);
  }

  conflict(message: MessageInfo): void {
    call(this.#hooks.onConflict, infoOf(message));
  }

  failure(message: MessageInfo | null, error: unknown, tries: number): void {
    call(this.#hooks.onFailure, { message: message && infoOf(message), error, tries });
  }

  dead(message: MessageInfo, error: unknown, tries: number): void {
    call(this.#hooks.onDead, { message: infoOf(message), error, tries });
  }

  stale(message: MessageInfo): void {
    call(this.#hooks.onStale, infoOf(message));
  }

  /** No hook: it is true once, of a program and not of a message. */
  notStarted(): void {
    if (this.#hooks.onFailure !== null) warnNotStarted();
  }

  unhandled(message: MessageInfo): void {
    call(this.#hooks.onUnhandled, infoOf(message));
  }
}

function infoOf({ source, id, type }: MessageInfo): MessageInfo {
  return { source, id, type };
}

function call<Info>(hook: ((info: Info) => unknown) | null | undefined, info: Info): void {
  try {
    // a promise that is rejected with nobody listening ends a Node process
    Promise.resolve(hook?.(info)).catch(() => {});
  } catch {
    // its own business
  }
}
