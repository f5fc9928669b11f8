// The result of one check of `posthorn doctor`.

/** `problem` prevents Posthorn from working or breaks a guarantee; `warning` is a risk. */
export type Level = "ok" | "note" | "warning" | "problem";

export interface Check {
  readonly name: string;
  readonly level: Level;
  /** The finding. */
  readonly message: string;
  /** The next step for the user; null if there is none. */
  readonly advice: string | null;
}

const checkOf =
  (level: Level) =>
  (name: string, message: string, advice: string | null = null): Check => ({ name, level, message, advice });

export const ok = checkOf("ok");
export const note = checkOf("note");
export const warning = checkOf("warning");
export const problem = checkOf("problem");
