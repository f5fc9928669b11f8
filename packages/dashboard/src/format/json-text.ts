// JSON as people type it: read, or said what is wrong with it.

export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** Undefined for a field that was left empty. */
export function readJson(text: string): ReadJson {
  if (text.trim() === "") return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, problem: (error as Error).message };
  }
}

/** Empty for what is not there. */
export function writeJson(value: unknown): string {
  return value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
}
