// The text of a form that Twilio signs: names and values sorted by name, without separators, equal pairs once.

const decoder = new TextDecoder("utf-8", { fatal: true });
// Twilio sends about 30. Sorting more would be wasted work during a flood of invalid requests.
const MAX_PARAMETERS = 1_000;

/** Returns the body itself if it is not a form that Twilio would sign. */
export function sortedParameters(body: Uint8Array): string | Uint8Array {
  let text: string;
  try {
    text = decoder.decode(body);
  } catch {
    return body;
  }
  const values = new Map<string, Set<string>>();
  let count = 0;
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", at + 1)) {
    if (++count >= MAX_PARAMETERS) return body;
  }
  for (const [name, value] of new URLSearchParams(text)) {
    const known = values.get(name);
    if (known === undefined) values.set(name, new Set([value]));
    else known.add(value);
  }
  let signed = "";
  for (const name of [...values.keys()].sort()) {
    for (const value of [...(values.get(name) as Set<string>)].sort()) signed += name + value;
  }
  return signed;
}
