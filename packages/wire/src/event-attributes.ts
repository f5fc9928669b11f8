// What an event brings along from where it was made, by CloudEvents' names, and how its data is to be read.

export interface EventAttributes {
  /** Together with `source` what others know it by. */
  readonly id?: string | undefined;
  readonly source?: string | undefined;
  /** Where it is not a type of ours, such as `com.Example.Order-Paid`. */
  readonly type?: string | undefined;
  /** RFC 3339, as it was written. */
  readonly time?: string | undefined;
  readonly datacontenttype?: string | undefined;
  readonly dataschema?: string | undefined;
  readonly extensions?: Readonly<Record<string, string | number | boolean>> | undefined;
  /**
   * How the JSON in an event's payload stands for data that is none: a string that is the `text`, or its bytes in `base64`;
   * `none`: null stands for there being no data.
   */
  readonly encoding?: DataEncoding | undefined;
}

export const DATA_ENCODINGS = ["text", "base64", "none"] as const;
export type DataEncoding = (typeof DATA_ENCODINGS)[number];

/**
 * In one order, however they came: the database keeps names by their length, and what is sent has the same bytes at every
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
