// The result of one check of `posthorn doctor`.

/** `problem` prevents Posthorn from working or breaks a guarantee; `warning` is a risk. */
export type Level = "ok" | "note" | "warning" | "problem";

export interface Check {
  readonly name: string;
  readonly level: Level;
  /** The finding. */
  readonly message: string;
  /** What to do, or null. */
  readonly advice: string | null;
}

export function ok(name: string, message: string): Check {
  return { name, level: "ok", message, advice: null };
}

export function note(name: string, message: string, advice: string | null = null): Check {
  return { name, level: "note", message, advice };
}

export function warning(name: string, message: string, advice: string): Check {
  return { name, level: "warning", message, advice };
}

export function problem(name: string, message: string, advice: string): Check {
  return { name, level: "problem", message, advice };
}
