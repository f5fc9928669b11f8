// Resolves settings once at start, from flags, the environment and files. All invalid settings are reported together.
import { readFileSync } from "node:fs";
import { closest } from "@posthorn/wire";
import { InvalidValueError } from "./config/parsers.ts";
import { type Setting, type Settings, settings } from "./config/settings.ts";

export type Config = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer T, infer Default>
    ? undefined extends Default
      ? T | undefined
      : T
    : never;
};

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigSources {
  readonly env: Environment;
  /** Text from the command line; takes precedence over the environment. */
  readonly flags?: Partial<Readonly<Record<keyof Settings, string | undefined>>>;
  /** Defaults of a command, instead of those of the settings table. */
  readonly defaults?: Partial<Config>;
}

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

export function loadConfig({ env, flags = {}, defaults = {} }: ConfigSources): Config {
  const problems = unknownNames(env);
  const values: Record<string, unknown> = {};
  let isOfFlags = false;
  for (const [name, setting] of entries()) {
    try {
      const source = fromFlag(name, flags[name]) ?? fromEnvironment(setting.env, env);
      values[name] = source ? parse(setting, source) : (defaults[name] ?? setting.default);
    } catch (error) {
      if (!(error instanceof InvalidValueError)) throw error;
      problems.push(error.message);
      isOfFlags ||= flags[name] !== undefined;
    }
  }
  if (problems.length > 0) throw new ConfigError(problems, { isOfFlags });
  return values as Config;
}

interface Source {
  readonly label: string;
  readonly text: string;
}

function fromFlag(name: string, text: string | undefined): Source | null {
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return text === undefined ? null : { label: `--${flag}`, text };
}

function fromEnvironment(name: string, env: Environment): Source | null {
  const text = env[name] || undefined;
  const file = env[`${name}_FILE`] || undefined;
  if (text !== undefined && file !== undefined) {
    throw new InvalidValueError(`${name} and ${name}_FILE are both set. Keep one of them.`);
  }
  if (file === undefined) return text === undefined ? null : { label: name, text };
  const content = readSettingFile(name, file);
  return content === "" ? null : { label: `${name}_FILE`, text: content };
}

function readSettingFile(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    const { code = "an error" } = error as { code?: string };
    throw new InvalidValueError(
      `${name}_FILE names ${path}, which cannot be read (${code}). Check the path and its permissions.`,
    );
  }
}

function parse(setting: Setting<unknown, unknown>, { label, text }: Source): unknown {
  try {
    return setting.parse(text.trim());
  } catch (error) {
    if (!(error instanceof InvalidValueError)) throw error;
    const shown = setting.secret ? "" : ` It is ${JSON.stringify(text.slice(0, 100))}.`;
    throw new InvalidValueError(`${label} ${error.message}.${shown}`);
  }
}

/** Variables of the commands that use the API; they may be set where a server is started too. */
const API_COMMAND_VARIABLES = ["POSTHORN_URL", "POSTHORN_API_KEY", "POSTHORN_API_KEY_FILE"];

function unknownNames(env: Environment): string[] {
  const known = [
    ...entries().flatMap(([, { env: name }]) => [name, `${name}_FILE`]),
    ...API_COMMAND_VARIABLES,
  ];
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith("POSTHORN_") && value && !known.includes(name))
    .filter(([name, value]) => !isFromKubernetes(name, value ?? ""))
    .map(([name]) => `${name} is not a setting. ${suggestion(name, known)}`);
}

function suggestion(name: string, known: readonly string[]): string {
  const bare = withoutPrefix(name);
  if (known.includes(bare)) return `Did you mean ${bare}?`;
  // The common prefix would make unrelated names similar.
  const nearest = closest(bare, known.map(withoutPrefix));
  const match = known.find((candidate) => withoutPrefix(candidate) === nearest);
  return match ? `Did you mean ${match}?` : "Remove it, or check its spelling.";
}

function withoutPrefix(name: string): string {
  return name.replace(/^POSTHORN_/, "");
}

/** Kubernetes sets such variables in every container for a service named `posthorn…`. */
function isFromKubernetes(name: string, value: string): boolean {
  return (
    /_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$/.test(name) ||
    /_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (/_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value))
  );
}

function entries(): [keyof Settings, Setting<unknown, unknown>][] {
  return Object.entries(settings) as [keyof Settings, Setting<unknown, unknown>][];
}
