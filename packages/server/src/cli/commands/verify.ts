// `posthorn verify`: whether a request was signed with a secret, and if not, exactly why. Works without a server.
import type { Command } from "commander";
import { CliError, usage } from "../failure.ts";
import { readAll, readNamedFile } from "../remote/data.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, jsonText, toned } from "../terminal/text.ts";
import { examine, type Finding } from "../verify/examine.ts";
import { parseRequest, type RawRequest } from "../verify/raw-request.ts";
import { prefixOf, secretsOf } from "../views/secrets.ts";

interface VerifyFlags {
  readonly secret: readonly string[];
  readonly header?: readonly string[];
  readonly headerPrefix?: string;
  readonly request?: string;
  readonly body?: string;
  readonly tolerance: string;
  readonly now?: string;
  readonly json?: boolean;
}

export function addVerify(program: Command, terminal: Terminal): void {
  program
    .command("verify")
    .description("say whether a request was signed with a secret, and if not, why; works offline")
    .requiredOption("--secret <secret...>", "whsec_… or whpk_…; any of them may have signed")
    .option("--header <header...>", "'name: value', as it came; the body is then on standard input")
    .option(
      "--request <file>",
      "a whole request as it came over the wire (default: standard input, without --header)",
    )
    .option("--body <file>", "read the body from a file; for use with --header")
    .option("--header-prefix <prefix>", "of the headers (default X-Webhook)")
    .option("--tolerance <seconds>", "how old it may be; 0 does not look", "300")
    .option("--now <time>", "judge the age as of this time: 2026-11-15T09:30:00Z")
    .option("--json", "answer in JSON")
    .action((flags: VerifyFlags) => run(terminal, flags));
}

async function run(terminal: Terminal, flags: VerifyFlags): Promise<void> {
  if (!/^\d{1,9}$/.test(flags.tolerance)) throw usage("--tolerance is a whole number of seconds.");
  const now = flags.now === undefined ? new Date() : new Date(flags.now);
  if (Number.isNaN(now.getTime())) throw usage("--now is a time such as 2026-11-15T09:30:00Z.");
  const secrets = secretsOf(flags.secret);
  const headerPrefix = prefixOf(flags.headerPrefix);
  const request = await readRequest(terminal, flags);
  const toleranceSeconds = Number(flags.tolerance) || Number.POSITIVE_INFINITY;
  const findings = await examine(request, { secrets, headerPrefix, toleranceSeconds, now });
  const isValid = findings.some(({ ok }) => ok);
  if (flags.json) terminal.print(jsonText({ valid: isValid, findings }));
  else terminal.print(findings.map((finding) => lineOf(terminal, finding)).join("\n"));
  if (!isValid) {
    throw new CliError("failed", "The request is not to be trusted: no signature on it holds.");
  }
}

async function readRequest(terminal: Terminal, flags: VerifyFlags): Promise<RawRequest> {
  if (flags.header === undefined) {
    if (flags.body !== undefined) throw usage("--body goes with --header; a --request has its body in it.");
    const bytes =
      flags.request === undefined ? await readAll(terminal.stdin) : readNamedFile("--request", flags.request);
    return parseRequest(bytes);
  }
  if (flags.request !== undefined) throw usage("Give --request or --header, not both.");
  const wrong = flags.header.find((header) => !header.includes(":"));
  if (wrong !== undefined) {
    throw usage(`"${wrong.slice(0, 60)}" is no header. Give each as --header 'name: value', as it came.`);
  }
  const body = flags.body === undefined ? await readAll(terminal.stdin) : readNamedFile("--body", flags.body);
  return { headers: parseRequest(Buffer.from(`${flags.header.join("\r\n")}\r\n\r\n`)).headers, body };
}

function lineOf(terminal: Terminal, { ok, scheme, message }: Finding): string {
  return `${toned(terminal, ok ? "good" : "bad", ok ? "valid  " : "invalid")}  ${clean(scheme)}: ${clean(message)}`;
}
