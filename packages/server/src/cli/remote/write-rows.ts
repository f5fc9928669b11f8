// Writes the rows of an export to standard output, as fast as it takes them.
import { CliError, failed } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Throws if the connection breaks: the output is then incomplete. */
export async function writeRows(terminal: Terminal, { body }: Pick<Response, "body">): Promise<void> {
  try {
    for await (const bytes of body ?? []) await terminal.write(bytes);
  } catch (error) {
    if (terminal.ending.aborted) throw failed("The export was stopped: the output is incomplete.");
    throw new CliError(
      "unreachable",
      "The connection broke during the export: the output is incomplete. Export again, with a shorter time if that repeats.",
      { cause: error },
    );
  }
}
