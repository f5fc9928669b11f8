// A format is what the body of a delivery looks like, and the headers that describe it. A new one is a name in
// PAYLOAD_FORMATS and an entry in formats.ts.
import type { Event, FormatContext } from "../model.ts";

export interface Content {
  /** Undefined if the request has no such header. */
  readonly contentType: string | undefined;
  /** Further headers by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface Format {
  /** Pure: the bytes are the same at every attempt. */
  readonly content: (event: Event, context: FormatContext) => Content;
  /** Absent if every event is sent in its own request. */
  readonly batch?: BatchEncoding;
}

/** How several events become one body. */
export interface BatchEncoding {
  readonly encodeMember: (event: Event, context: FormatContext) => Uint8Array;
  readonly join: (members: readonly Uint8Array[]) => Uint8Array;
  /** Bytes of a body besides the members, each of which counts one more for its separator. */
  readonly framingBytes: number;
}
