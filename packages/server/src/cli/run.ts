// Runs a command line, and turns errors into a message and an exit code.
import { CommanderError } from "commander";
import { describeFailure, EXIT_CODES, failureJson, failureText } from "./failure.ts";
import { createProgram } from "./program.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { cleanLines, jsonText, toned } from "./terminal/text.ts";

/** `args` are the arguments after the program name. Resolves to the exit code. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(args, { from: "user" });
    return EXIT_CODES.ok;
  } catch (error) {
    const described = describeFailure(error);
    const { failure } = described;
    const wantsJson = args.includes("--json");
    if (error instanceof CommanderError) {
      // commander has already printed the text form
      if (wantsJson && failure !== "ok") terminal.printError(jsonText(failureJson(described), 0));
    } else if (wantsJson) {
      terminal.printError(jsonText(failureJson(described), 0));
    } else {
      terminal.printError(toned(terminal, "bad", cleanLines(failureText(described))));
    }
    return EXIT_CODES[failure];
  }
}
