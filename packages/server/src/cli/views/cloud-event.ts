// The CloudEvents attributes of an event, under their own names.
import type { Event } from "@posthorn/client";

const DATA_IS = {
  text: "text, not JSON",
  base64: "bytes, in base64",
  none: "none",
} as const;

/** Returns an empty list for an event that is not a CloudEvent. */
export function cloudEventFacts({ attributes }: Pick<Event, "attributes">): [string, unknown][] {
  if (attributes === null) return [];
  const { extensions, encoding, ...core } = attributes;
  return [
    ...Object.entries({ ...core, ...extensions }).map(([name, value]): [string, unknown] => [
      `ce-${name}`,
      value,
    ]),
    ...(encoding === undefined ? [] : [["data is", DATA_IS[encoding]] as [string, unknown]]),
  ];
}
