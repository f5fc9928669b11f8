// `posthorn stats`: counts of deliveries.
import { type Command, Option } from "commander";
import { printResult, remote } from "../remote/remote.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type StatsScope, statsText } from "../views/stats.ts";

export function addStats(program: Command, terminal: Terminal): void {
  const command = program
    .command("stats")
    .description("count deliveries by state, and the results of recent ones")
    .option("--tenant <tenant>", "only of this tenant")
    .option("--endpoint <endpoint>", "only to this endpoint")
    .addOption(
      new Option("--period <period>", "period of the finished deliveries")
        .choices(["hour", "day"])
        .default("hour"),
    );
  remote<StatsScope>(command, terminal, async (remote, _args, flags) => {
    const { tenant, endpoint, period } = flags;
    const stats = await remote.client.stats.get({ query: { tenant, endpoint, period } });
    printResult(remote, stats, () => statsText(terminal, stats, flags));
  });
}
