// Suggestions for misspelt names.

/** The longest name there is: an event type's. Comparing takes time proportional to the product of both lengths. */
const MAX_NAME_LENGTH = 128;
const MAX_NAMES_LISTED = 100;

/** `Did you mean X?`, or the list of valid names if none is close. */
export function didYouMean(name: string, known: readonly string[]): string {
  const nearest = closest(name, known);
  return nearest === null ? expectedOneOf(known) : `Did you mean ${nearest}?`;
}

export function expectedOneOf(known: readonly string[]): string {
  const others = known.length > MAX_NAMES_LISTED ? ` and ${known.length - MAX_NAMES_LISTED} others` : "";
  return `Expected one of: ${known.slice(0, MAX_NAMES_LISTED).join(", ")}${others}.`;
}

/** The valid name that differs least, or null if all differ too much. */
export function closest(name: string, known: readonly string[]): string | null {
  if (name.length > MAX_NAME_LENGTH) return null;
  // Up to a third of the letters may differ: beyond that, a suggestion misleads more than it helps.
  let best = Math.max(1, Math.floor(name.length / 3)) + 1;
  let nearest: string | null = null;
  for (const candidate of known) {
    // The distance is at least the difference in length.
    if (Math.abs(normalize(name).length - normalize(candidate).length) >= best) continue;
    const distance = editDistance(normalize(name), normalize(candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

/** `is_active`, `IsActive` and `isActive` count as the same spelling. */
function normalize(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, "");
}

/** Letters inserted, deleted, replaced or swapped with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let distance = Math.min(at(last, j) + 1, at(current, j - 1) + 1, at(last, j - 1) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        distance = Math.min(distance, at(beforeLast, j - 2) + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
