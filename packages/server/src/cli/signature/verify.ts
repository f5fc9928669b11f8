// `posthorn verify`: checks the signature of a request, without a server.
import { examine, type Finding, headerNames, type SecretEncoding, signedBy } from "@posthorn/wire";
import type { Command } from "commander";
import { failed, usage } from "../failure.ts";
import { readAll, readNamedFile } from "../remote/data.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, jsonText, toned } from "../terminal/text.ts";
import { prefixOf, SECRET_ENCODING_OPTION, verifyingSecretsOf } from "../views/secrets.ts";
import { parseRequest, type RawRequest } from "./raw-request.ts";

interface VerifyFlags {
  readonly secret: readonly string[];
  readonly secretEncoding?: SecretEncoding;
  readonly header?: readonly string[];
  readonly headerPrefix?: string;
  readonly request?: string;
  readonly body?: string;
  readonly to?: string;
  readonly tolerance: string;
  readonly now?: string;
  readonly json?: boolean;
}

export function addVerify(program: Command, terminal: Terminal): void {
  program
    .command("verify")
    .description("verify the signature of a request, and explain a failure; works offline")
    .requiredOption("--secret <secret...>", "whsec_…, whpk_…, or a vendor's secret; one of them must match")
    .addOption(SECRET_ENCODING_OPTION)
    .option("--header <header...>", "'name: value'; the body is read from standard input")
    .option("--request <file>", "file with a raw HTTP request (default: standard input)")
    .option("--body <file>", "read the body from a file; only with --header")
    .option("--to <url>", "requested URL, for schemes that sign the URL (default: from the request line)")
    .option("--header-prefix <prefix>", "prefix of the headers (default X-Webhook)")
    .option("--tolerance <seconds>", "maximum age of the signature; 0 disables the check", "300")
    .option("--now <time>", "time to compare the age with, such as 2026-11-15T09:30:00Z")
    .option("--json", "print JSON")
    .action((flags: VerifyFlags) => run(terminal, flags));
}

async function run(terminal: Terminal, flags: VerifyFlags): Promise<void> {
  if (!/^\d{1,9}$/.test(flags.tolerance)) throw usage("--tolerance must be a whole number of seconds.");
  const now = flags.now === undefined ? new Date() : new Date(flags.now);
  if (Number.isNaN(now.getTime())) throw usage("--now must be a time such as 2026-11-15T09:30:00Z.");
  const secrets = verifyingSecretsOf(flags.secret, flags.secretEncoding);
  const headerPrefix = prefixOf(flags.headerPrefix);
  const request = await readRequest(terminal, flags);
  const toleranceSeconds = Number(flags.tolerance) || Number.POSITIVE_INFINITY;
  const examined = { ...request, url: flags.to ?? request.url, secrets, headerPrefix, toleranceSeconds, now };
  const findings = await examine(examined);
  if (findings.length === 0) throw nothingToVerify(examined);
  const isValid = findings.some(({ ok }) => ok);
  if (flags.json) terminal.print(jsonText({ valid: isValid, findings }));
  else terminal.print(findings.map((finding) => lineOf(terminal, finding)).join("\n"));
  if (!isValid) {
    throw failed("The request has no valid signature.");
  }
}

async function readRequest(terminal: Terminal, flags: VerifyFlags): Promise<RawRequest> {
  if (flags.header === undefined) {
    if (flags.body !== undefined) throw usage("--body needs --header; a --request contains its body.");
    const bytes =
      flags.request === undefined ? await readAll(terminal.stdin) : readNamedFile("--request", flags.request);
    return parseRequest(bytes);
  }
  if (flags.request !== undefined) throw usage("Use --request or --header, not both.");
  const wrong = flags.header.find((header) => !header.includes(":"));
  if (wrong !== undefined) {
    throw usage(`"${wrong.slice(0, 60)}" is not a header. Use --header 'name: value'.`);
  }
  const body = flags.body === undefined ? await readAll(terminal.stdin) : readNamedFile("--body", flags.body);
  return { ...parseRequest(Buffer.from(`${flags.header.join("\r\n")}\r\n\r\n`)), body };
}

function nothingToVerify({
  headers,
  headerPrefix,
}: Pick<RawRequest, "headers"> & { readonly headerPrefix: string }): Error {
  const [scheme] = signedBy({ headers, headerPrefix });
  if (scheme !== undefined) {
    const header = scheme.headers.signature(headerNames(headerPrefix));
    return usage(
      `${header} is present, but no given secret matches its scheme. A whpk_… verifies only ed25519, a whsec_… only the others.`,
    );
  }
  if (headers["signature-input"] !== undefined) {
    return usage("This is an HTTP Message Signature (RFC 9421). Verify it with a library for that standard.");
  }
  const names = [headerNames(headerPrefix).signature, "webhook-signature"];
  const other = Object.keys(headers).find((name) => name.endsWith("-signature"));
  const hint =
    other === undefined
      ? "Check that the whole request was passed."
      : `There is ${other}; use --header-prefix ${other.slice(0, -"-signature".length)}.`;
  return usage(`There is no ${names.join(" and no ")} header, nor one of a vendor. ${hint}`);
}

function lineOf(terminal: Terminal, { ok, scheme, message }: Finding): string {
  return `${toned(terminal, ok ? "good" : "bad", ok ? "valid  " : "invalid")}  ${clean(scheme)}: ${clean(message)}`;
}
