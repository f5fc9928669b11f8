// One thing that was looked at, and what came of it.

/** `problem` keeps Posthorn from working or from keeping its promises; `warning` is worth a thought. */
export type Level = "ok" | "note" | "warning" | "problem";

export interface Check {
  readonly name: string;
  readonly level: Level;
  /** What was found. */
  readonly message: string;
  /** What to do about it; null when there is nothing to do. */
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
