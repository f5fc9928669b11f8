// Asks for confirmation before an irreversible change, in an interactive terminal only.
import { CliError } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean } from "../terminal/text.ts";

export async function confirm(terminal: Terminal, what: string, isSure: boolean | undefined): Promise<void> {
  if (isSure || !terminal.isInteractive) return;
  const answer = await terminal.ask(`${clean(what)} Continue? [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return;
  throw new CliError("failed", "Nothing was changed. Answer y to continue, or use --yes.");
}
