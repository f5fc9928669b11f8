// `posthorn stats`: counts of deliveries.
import { type Command, Option } from "commander";
import { printResult, remote } from "../remote/remote.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type StatsScope, statsText } from "../views/stats.ts";

export function addStats(program: Command, terminal: Terminal): void {
  const command = program
    .command("stats")
    .description("how many deliveries wait or are dead, and how those that ended lately have ended")
    .option("--tenant <tenant>", "of this tenant")
    .option("--endpoint <endpoint>", "to this endpoint")
    .addOption(
      new Option("--period <period>", "how far back those that ended go")
        .choices(["hour", "day"])
        .default("hour"),
    );
  remote<StatsScope>(command, terminal, async (remote, _args, flags) => {
    const { tenant, endpoint, period } = flags;
    const stats = await remote.client.stats.get({ query: { tenant, endpoint, period } });
    printResult(remote, stats, () => statsText(terminal, stats, flags));
  });
}
