// A misspelt name costs one reading of the message and not a search.

/** `Did you mean X?`, or all the names there are when none is close. */
export function suggest(name: string, known: readonly string[]): string {
  const close = known
    .map((candidate) => ({ candidate, distance: editDistance(plain(name), plain(candidate)) }))
    // A third of the letters may differ: further away a suggestion misleads more than it helps.
    .filter(({ distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.distance - b.distance);
  return close[0] === undefined ? `Known are ${known.join(", ")}.` : `Did you mean ${close[0].candidate}?`;
}

/** `max_body_bytes` and `maxBodyBytes` are the same slip. */
function plain(name: string): string {
  return name.slice(0, 100).toLowerCase().replace(/[_-]/g, "");
}

function editDistance(a: string, b: string): number {
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (last[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min((last[j] as number) + 1, (current[j - 1] as number) + 1, replaced));
    }
    last = current;
  }
  return last[b.length] as number;
}
