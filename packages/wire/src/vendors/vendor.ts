// The declarative description of a vendor's webhooks. Receivers parse requests with it, and test senders create them.
import type { Scheme } from "../signature/scheme.ts";
import type { TimeFormat } from "../signature/time.ts";

/** To add a vendor: a file with this object, a line in `vendors.ts`, and a test against the vendor's own code. */
export interface Vendor {
  /** Named after the vendor. */
  readonly scheme: Scheme;
  /** The first field that is present is used; the same applies to `type`, `time` and `data`. */
  readonly id: readonly VendorIdField[];
  readonly type: readonly (VendorField | { readonly fixed: string })[];
  readonly time: readonly { readonly at: VendorField; readonly format: TimeFormat }[];
  /** Paths of the handler's `data`; the whole body if none is present. */
  readonly data: readonly Path[];
  /** Set if the body is a JSON array of events. */
  readonly isBatch?: true;
  /** False if attempts of one event may differ in their bytes, for example because the body contains an attempt number. */
  readonly hasStableBody: boolean;
  /** Signed verification requests that are not events. The first match determines the response. */
  readonly challenges?: readonly Challenge[];
}

export type Path = readonly string[];

export type VendorField =
  /** Not signed, except for the scheme's id header. */
  | { readonly header: string }
  /** A member of the body, or of an event in a batch; a parameter of a form. */
  | { readonly body: Path }
  /** Several members joined with a hyphen, if only the combination is unique. */
  | { readonly joined: readonly Path[] };

/** `signed` is the SHA-256 of the signed text, for forms, which can be encoded in several ways. */
export type VendorIdField = VendorField | { readonly digest: "body" | "signed" };

/** A JSON response with the text at a path and its HMAC under the secret that signed the request, under the given names. */
export interface SignedEcho {
  readonly signed: Path;
  readonly text: string;
  readonly signature: string;
}

export interface Challenge {
  /** All conditions must hold; null means absent. */
  readonly when: readonly { readonly at: VendorField; readonly is: string | null }[];
  readonly status: 200 | 204;
  /** The text at a path of the body (required), that text with its signature, fixed JSON, or an empty body. */
  readonly answer: { readonly echo: Path } | SignedEcho | { readonly json: string } | null;
}
