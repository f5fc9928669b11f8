// The attributes of an imported event, named as in CloudEvents, and the encoding of its data.

export interface EventAttributes {
  /** Identifies the event together with `source`. */
  readonly id?: string | undefined;
  readonly source?: string | undefined;
  /** Set if it is not a valid type here, such as `com.Example.Order-Paid`. */
  readonly type?: string | undefined;
  /** RFC 3339, as it was written. */
  readonly time?: string | undefined;
  readonly datacontenttype?: string | undefined;
  readonly dataschema?: string | undefined;
  readonly extensions?: Readonly<Record<string, string | number | boolean>> | undefined;
  /**
   * How the payload represents data that is not JSON: a string that is the `text`, or its bytes in `base64`; `none`: null represents
   * missing data.
   */
  readonly encoding?: DataEncoding | undefined;
}

export const DATA_ENCODINGS = ["text", "base64", "none"] as const;
export type DataEncoding = (typeof DATA_ENCODINGS)[number];

/**
 * The attributes in a fixed order: the database sorts names by length, but the sent bytes must be the same on every
 * attempt.
 */
export function inOneOrder(attributes: EventAttributes): EventAttributes {
  const { id, source, type, time, datacontenttype, dataschema, extensions, encoding } = attributes;
  const sorted = extensions === undefined ? undefined : byName(extensions);
  return { id, source, type, time, datacontenttype, dataschema, extensions: sorted, encoding };
}

export function byName<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)));
}
