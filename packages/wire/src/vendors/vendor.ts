// The description of a vendor's webhooks, without code that computes. Receivers parse such
// requests by it, and a sender can make them.
import type { Scheme } from "../signature/scheme.ts";
import type { TimeFormat } from "../signature/time.ts";

/** To add one: a file with such an object, a line in `vendors.ts`, and a test against the vendor's own code. */
export interface Vendor {
  /** Its name is the vendor's. */
  readonly scheme: Scheme;
  /** Of each list the first that is there counts. */
  readonly id: readonly IdPlace[];
  readonly type: readonly (Place | { readonly fixed: string })[];
  readonly time: readonly { readonly at: Place; readonly format: TimeFormat }[];
  /** Paths to what a handler calls `data`; the whole body when none is there. */
  readonly data: readonly Path[];
  /** Set when the body is a JSON array of events. */
  readonly isBatch?: true;
  /** False where deliveries of one event may differ in their bytes, as when the body counts the attempts. */
  readonly hasStableBody: boolean;
  /** Signed questions that are no events; the first that fits is answered. */
  readonly challenges?: readonly Challenge[];
}

export type Path = readonly string[];

export type Place =
  /** Not signed, unless it is the scheme's own id header. */
  | { readonly header: string }
  /** A member of the body, or of an event in a batch; of a form, its parameter. */
  | { readonly body: Path }
  /** Several members joined with a hyphen, where only all of them together are unique. */
  | { readonly joined: readonly Path[] };

/** `signed` is SHA-256 of what was signed: for forms, of which other bytes can say the same. */
export type IdPlace = Place | { readonly digest: "body" | "signed" };

/** The text at a path and its HMAC under the secret that signed the question, under the names that JSON has for them. */
export interface SignedEcho {
  readonly signed: Path;
  readonly text: string;
  readonly signature: string;
}

export interface Challenge {
  /** Each holds; null: absent. */
  readonly when: readonly { readonly at: Place; readonly is: string | null }[];
  readonly status: 200 | 204;
  /** The text at a path of the body, without which it is no challenge; that and its signature, as JSON; JSON; or nothing. */
  readonly answer: { readonly echo: Path } | SignedEcho | { readonly json: string } | null;
}
