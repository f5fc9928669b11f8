// `posthorn doctor`: checks the configuration of this machine.
import { ConfigError, readConfig } from "../../config.ts";
import { failed } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, jsonText, type Tone, toned } from "../terminal/text.ts";
import { type Check, type Level, ok, problem } from "./check.ts";
import { checkNode, checkSettingValues } from "./check-settings.ts";
import { inspectConfiguredDatabase, inspectDataDir, inspectPort } from "./inspect.ts";

export interface DoctorFlags {
  readonly dataDir?: string;
  readonly config?: string;
  readonly json?: boolean;
}

export async function doctor({ json, ...flags }: DoctorFlags, terminal: Terminal): Promise<void> {
  const checks = [checkNode(process.version), ...(await runChecks(terminal, flags))];
  const problems = checks.filter(({ level }) => level === "problem").length;
  if (json) terminal.print(jsonText({ ok: problems === 0, checks }));
  else terminal.print(checks.map((check) => lineOf(terminal, check)).join("\n"));
  if (problems === 0) return;
  throw failed(`${problems} ${problems === 1 ? "problem" : "problems"} found.`);
}

async function runChecks(
  terminal: Terminal,
  flags: Pick<DoctorFlags, "dataDir" | "config">,
): Promise<Check[]> {
  try {
    const config = await readConfig({ env: terminal.env, flags });
    return [
      ok("settings", "all are valid"),
      ...inspectDataDir(config),
      ...(await inspectConfiguredDatabase(config)),
      await inspectPort(config),
      ...checkSettingValues(config),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((message) =>
      problem("settings", message, "Correct it, then run posthorn doctor again."),
    );
  }
}

const MARKS: Readonly<Record<Level, readonly [mark: string, tone: Tone]>> = {
  ok: ["ok      ", "good"],
  note: ["note    ", "quiet"],
  warning: ["warning ", "warning"],
  problem: ["problem ", "bad"],
};

function lineOf(terminal: Terminal, { name, level, message, advice }: Check): string {
  const [mark, tone] = MARKS[level];
  const line = `${toned(terminal, tone, mark)} ${clean(name)}: ${clean(message)}`;
  return advice === null ? line : `${line}\n          → ${clean(advice)}`;
}
