// Callbacks for operators. A hook that throws has no effect.

import type { MessageKey } from "../model.ts";
import type { RejectionReason } from "../source.ts";
import { consoleHooks, warnNotStarted } from "./console-hooks.ts";

/** Hooks that may be null print to the console by default; null disables that. */
export interface Hooks {
  /** A request was rejected with 4xx. The sender does not learn the reason; it is for your log. */
  readonly onRejected?: ((rejection: RejectedRequest) => unknown) | null | undefined;
  /** A known id came with another body: a bug of the sender, or an attack. The response was 422. */
  readonly onConflict?: ((conflict: MessageInfo) => unknown) | null | undefined;
  /** A handler threw, or the store was unavailable. */
  readonly onFailure?: ((failure: FailureInfo) => unknown) | null | undefined;
  /** A message became a dead letter; it is not retried automatically. */
  readonly onDead?: ((dead: FailureInfo) => unknown) | null | undefined;
  /** A delivery was dropped and acknowledged, because a later one of its subject was applied. Not called for messages from the inbox. */
  readonly onStale?: ((message: MessageInfo) => unknown) | undefined;
  /** There is neither a handler for the type nor a fallback. The message is acknowledged. */
  readonly onUnhandled?: ((message: MessageInfo) => unknown) | undefined;
}

export interface RejectedRequest {
  readonly status: number;
  /** Null if the request matches no source. */
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
  /** Null if the store failed before there was a message. */
  readonly message: MessageInfo | null;
  readonly error: unknown;
  /** Failures including this one; 0 if the store failed. */
  readonly failures: number;
}

export type Reporter = ReturnType<typeof reporterFor>;

/** Calls hooks without waiting for them. */
export function reporterFor({ onRejected, onConflict, onFailure, onDead, onStale, onUnhandled }: Hooks) {
  const overrides = Object.entries({ onRejected, onConflict, onFailure, onDead, onStale, onUnhandled });
  const isSet = ([, hook]: [string, unknown]) => hook !== undefined;
  const hooks: Hooks = { ...consoleHooks(), ...Object.fromEntries(overrides.filter(isSet)) };
  return {
    rejected: (rejection: RejectedRequest) => callHook(() => hooks.onRejected?.(rejection)),
    conflict: (message: MessageInfo) => callHook(() => hooks.onConflict?.(infoOf(message))),
    failure: (message: MessageInfo | null, error: unknown, failures: number) =>
      callHook(() => hooks.onFailure?.({ message: message && infoOf(message), error, failures })),
    dead: (message: MessageInfo, error: unknown, failures: number) =>
      callHook(() => hooks.onDead?.({ message: infoOf(message), error, failures })),
    stale: (message: MessageInfo) => callHook(() => hooks.onStale?.(infoOf(message))),
    unhandled: (message: MessageInfo) => callHook(() => hooks.onUnhandled?.(infoOf(message))),
    /** Not a hook: it concerns the program and not a message. */
    notStarted() {
      if (hooks.onFailure !== null) warnNotStarted();
    },
  };
}

function infoOf({ source, id, type }: MessageInfo): MessageInfo {
  return { source, id, type };
}

/** Ignores the hook's errors. Without the catch, a rejection would end a Node process. */
export function callHook(hook: () => unknown): void {
  new Promise((resolve) => resolve(hook())).catch(() => {});
}
