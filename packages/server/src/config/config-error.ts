// The error for invalid settings, which lists all of them.

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];
  /** True if one of the invalid settings is a command-line flag. */
  readonly isOfFlags: boolean;

  constructor(problems: readonly string[], { isOfFlags = false } = {}) {
    super(
      problems.length === 1
        ? `Invalid setting: ${problems[0]}`
        : `Invalid settings:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`,
    );
    this.problems = problems;
    this.isOfFlags = isOfFlags;
  }
}
