// Entry point of the posthorn command.
import { run } from "./run.ts";
import { processTerminal } from "./terminal/terminal.ts";

process.exitCode = await run(process.argv.slice(2), processTerminal());
