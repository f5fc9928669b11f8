// What an event brought along as a CloudEvent, by the names that its senders and receivers know.
import type { Event } from "@posthorn/client";

const DATA_IS = {
  text: "text, not JSON",
  base64: "bytes, in base64",
  none: "none: it came without",
} as const;

/** No facts for an event that was published our way. */
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
