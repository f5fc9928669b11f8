// The messages between the primary process of `posthorn serve` and its children, and between children through the primary.
import type { Role } from "posthorn";
import type { Config } from "../config.ts";

export interface StartOptions {
  /** Stays with the place of a child: a restarted one has the number of its predecessor. */
  readonly number: number;
  readonly role: Role;
  /** As the primary resolved it, with the URL of the embedded database, the port and all keys. */
  readonly config: Config;
  readonly graceMs: number;
}

export type ToChild =
  | ({ readonly kind: "start" } & StartOptions)
  | { readonly kind: "stop" }
  | { readonly kind: "request"; readonly id: number; readonly topic: string; readonly argument: unknown }
  | { readonly kind: "gathered"; readonly id: number; readonly responses: readonly unknown[] }
  | { readonly kind: "broadcast"; readonly topic: string; readonly value: unknown }
  /** The reply to "detach". It arrives after the last connection that was handed to the child. */
  | { readonly kind: "detached" };

export type FromChild =
  /** The child has loaded its code and waits for its start options. */
  | { readonly kind: "loaded" }
  | { readonly kind: "ready"; readonly url: string }
  | { readonly kind: "failed"; readonly message: string }
  /** Requests values from all ready children except the sender, whose own value is included. */
  | {
      readonly kind: "gather";
      readonly id: number;
      readonly topic: string;
      readonly argument: unknown;
      readonly own: unknown;
    }
  | { readonly kind: "response"; readonly id: number; readonly value: unknown }
  | { readonly kind: "broadcast"; readonly topic: string; readonly value: unknown }
  /** A child has closed its listener and is about to exit. These are its last metrics. */
  | { readonly kind: "detach"; readonly metrics: string };

/** The topic whose responses the primary adds up itself, because only it remembers children that have ended. */
export const METRICS = "metrics";
