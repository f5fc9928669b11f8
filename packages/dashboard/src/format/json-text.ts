// Parses JSON typed into a field.

export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** The value is undefined for an empty field. */
export function readJson(text: string): ReadJson {
  if (text.trim() === "") return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, problem: (error as Error).message };
  }
}

/** Returns an empty string for null and undefined. */
export function writeJson(value: unknown): string {
  return value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
}
