// `posthorn config print`: every setting with its value and where it comes from. Opens neither the database nor the port.
import { resolve } from "node:path";
import { defaultText, fileKeyOf, type Setting, settings } from "../../config/settings.ts";
import { type ConfigSources, type ResolvedSetting, resolveSettings, withFile } from "../../config.ts";
import { table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { jsonText } from "../terminal/text.ts";

export interface ConfigFlags {
  readonly json?: boolean;
  readonly yaml?: boolean;
  readonly dataDir?: string;
  readonly config?: string;
}

export async function printConfig({ json, yaml, ...flags }: ConfigFlags, terminal: Terminal): Promise<void> {
  const sources = await withFile({ env: terminal.env, flags });
  const shown = resolveSettings(sources).map(show);
  if (json) terminal.print(jsonText({ file: pathOf(sources), settings: shown }));
  else if (yaml) terminal.print(settingsFile(shown));
  else terminal.print(text(shown, terminal));
}

function pathOf({ file }: ConfigSources): string | null {
  return file ? resolve(file.path) : null;
}

/** What is printed as JSON. */
interface Shown {
  readonly setting: string;
  /** Null if it is unset; then `default` says what applies. */
  readonly value: unknown;
  readonly origin: ResolvedSetting["origin"]["kind"];
  /** The name at the origin, such as `PORT_FILE`; null for a default. */
  readonly source: string | null;
  readonly default: string;
}

const MASK = "********";

function show({ name, value, origin }: ResolvedSetting): Shown {
  const setting: Setting<unknown, unknown> = settings[name];
  const visible = setting.secret ? MASK : (setting.written?.(value) ?? value);
  return {
    setting: setting.env,
    value: value === undefined ? null : visible,
    origin: origin.kind,
    source: origin.label,
    default: defaultText(setting),
  };
}

/** A line for each setting, in JSON, which YAML contains. Defaults and secrets are comments. */
function settingsFile(shown: readonly Shown[]): string {
  return shown
    .map(({ setting, value, origin, source, default: preset }) => {
      const isMasked = value === MASK;
      const isComment = origin === "default" || isMasked;
      const text = value === null || isMasked ? (value ?? preset) : JSON.stringify(value);
      return `${isComment ? "# " : ""}${fileKeyOf(setting)}: ${text} # ${source ?? origin}`;
    })
    .join("\n");
}

function text(shown: readonly Shown[], terminal: Terminal): string {
  const columns = [
    { title: "SETTING", value: ({ setting }: Shown) => setting },
    { title: "VALUE", value: valueText, canShrink: true },
    { title: "ORIGIN", value: ({ origin, source }: Shown) => source ?? origin },
  ];
  return table(terminal, columns, shown);
}

function valueText({ value, default: preset }: Shown): string {
  if (value === null) return preset;
  if (Array.isArray(value)) return value.join() || "none";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
