// Resolves settings once at start, from flags, the environment and a settings file. All invalid settings are reported
// together.
import { readFileSync } from "node:fs";
import { checkOptions } from "./config/check-options.ts";
import { ConfigError } from "./config/config-error.ts";
import { type ConfigFile, readConfigFile } from "./config/config-file.ts";
import { InvalidValueError } from "./config/parsers.ts";
import { CONFIG_VARIABLE, fileKeyOf, type Setting, type Settings, settings } from "./config/settings.ts";
import { unknownKeys, unknownVariables } from "./config/unknown-names.ts";

export { ConfigError } from "./config/config-error.ts";

export type Config = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer T, infer Default>
    ? undefined extends Default
      ? T | undefined
      : T
    : never;
};

export type SettingName = keyof Settings;
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigSources {
  readonly env: Environment;
  /** Text from the command line; takes precedence over the environment. */
  readonly flags?: Partial<Readonly<Record<SettingName, string | undefined>>>;
  /** The environment takes precedence over it. */
  readonly file?: ConfigFile | null;
  /** Defaults of a command, instead of those of the settings table. */
  readonly defaults?: Partial<Config>;
  /** What a command adds to lists. */
  readonly additions?: Partial<Record<SettingName, readonly string[]>>;
}

/** Where a value comes from, and its name there: `--port`, `PORT`, `PORT_FILE` or `port (posthorn.yaml:3)`. */
export interface Origin {
  readonly kind: "flag" | "environment" | "file" | "default";
  readonly label: string | null;
}

export interface ResolvedSetting {
  readonly name: SettingName;
  readonly value: unknown;
  readonly origin: Origin;
}

export interface CommandSources extends Pick<ConfigSources, "env" | "defaults" | "additions"> {
  readonly flags?: ConfigSources["flags"] & { readonly config?: string };
}

/** Reads the file that `--config` or POSTHORN_CONFIG names, and resolves all settings. */
export async function readConfig(sources: CommandSources): Promise<Config> {
  return loadConfig(await withFile(sources));
}

export async function withFile({ env, flags = {}, ...rest }: CommandSources): Promise<ConfigSources> {
  const { config, ...others } = flags;
  const path = config ?? (env[CONFIG_VARIABLE] || undefined);
  return { ...rest, env, flags: others, file: path === undefined ? null : await readConfigFile(path) };
}

export function loadConfig(sources: ConfigSources): Config {
  return valuesOf(resolveSettings(sources)) as Config;
}

function valuesOf(resolved: readonly ResolvedSetting[]): Partial<Config> {
  return Object.fromEntries(resolved.map(({ name, value }) => [name, value]));
}

/** Throws one `ConfigError` for everything that is wrong. */
export function resolveSettings(sources: ConfigSources): ResolvedSetting[] {
  const { env, flags = {}, file } = sources;
  const problems = [...unknownVariables(env), ...(file ? unknownKeys(file) : [])];
  const resolved: ResolvedSetting[] = [];
  let isOfFlags = false;
  for (const name of Object.keys(settings) as SettingName[]) {
    try {
      resolved.push(resolveSetting(name, sources));
    } catch (error) {
      if (!(error instanceof InvalidValueError)) throw error;
      problems.push(error.message);
      isOfFlags ||= flags[name] !== undefined;
    }
  }
  const labels = new Map(resolved.map(({ name, origin }) => [name, origin.label]));
  problems.push(...checkOptions(valuesOf(resolved), (name) => labels.get(name) ?? settings[name].env));
  if (problems.length > 0) throw new ConfigError(problems, { isOfFlags });
  return resolved;
}

function resolveSetting(name: SettingName, sources: ConfigSources): ResolvedSetting {
  const setting: Setting<unknown, unknown> = settings[name];
  const { defaults = {}, additions = {} } = sources;
  const source = sourceOf(name, sources);
  const value = source ? parse(setting, source) : (defaults[name] ?? setting.default);
  const added = additions[name];
  return {
    name,
    value: added === undefined ? value : [...(value as readonly string[]), ...added],
    origin: source?.origin ?? { kind: "default", label: null },
  };
}

/** Returns the text of one setting, not validated, for commands that need no other. */
export function textOf(name: SettingName, sources: ConfigSources): string | undefined {
  return sourceOf(name, sources)?.text;
}

interface Source {
  readonly origin: Origin & { readonly label: string };
  readonly text: string;
}

function sourceOf(name: SettingName, { flags = {}, env, file }: ConfigSources): Source | null {
  const variable = settings[name].env;
  return (
    fromFlag(name, flags[name]) ??
    fromEnvironment(variable, env) ??
    fromFile(variable, file, settings[name].isStructured)
  );
}

function fromFlag(name: string, text: string | undefined): Source | null {
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return text === undefined ? null : { origin: { kind: "flag", label: `--${flag}` }, text };
}

function fromEnvironment(name: string, env: Environment): Source | null {
  const given = (label: string): Given => ({ label, text: env[label] ?? "" });
  return valueOrItsFile("environment", given(name), given(`${name}_FILE`));
}

function fromFile(
  variable: string,
  file: ConfigFile | null | undefined,
  isStructured = false,
): Source | null {
  const key = fileKeyOf(variable);
  const given = (wanted: string): Given => {
    const entry = file?.entries.find(({ key }) => key === wanted);
    const { label = wanted, text = "" } = entry ?? {};
    if (entry !== undefined && isStructured && wanted === key && text !== "")
      return { label, text: entry.json };
    if (text !== null) return { label, text };
    throw new InvalidValueError(`${label} must be text, a number, true, false, or a list of these.`);
  };
  return valueOrItsFile("file", given(key), given(`${key}_file`));
}

interface Given {
  readonly label: string;
  /** Empty if it is unset. */
  readonly text: string;
}

function valueOrItsFile(kind: Origin["kind"], value: Given, path: Given): Source | null {
  if (value.text !== "" && path.text !== "") {
    throw new InvalidValueError(`${value.label} and ${path.label} are both set. Keep one of them.`);
  }
  const { label } = path.text === "" ? value : path;
  const text = path.text === "" ? value.text : contentOf(path);
  return text === "" ? null : { origin: { kind, label }, text };
}

function contentOf({ label, text: path }: Given): string {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    const { code = "an error" } = error as { code?: string };
    throw new InvalidValueError(
      `${label} names ${path}, which cannot be read (${code}). Check the path and its permissions.`,
    );
  }
}

function parse(setting: Setting<unknown, unknown>, { origin, text }: Source): unknown {
  try {
    return setting.parse(text.trim());
  } catch (error) {
    if (!(error instanceof InvalidValueError)) throw error;
    const shown = setting.secret ? "" : ` It is ${JSON.stringify(text.slice(0, 100))}.`;
    throw new InvalidValueError(`${origin.label} ${error.message}.${shown}`);
  }
}
