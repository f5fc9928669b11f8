// `posthorn sign`: prints the signature headers of a body, without a server.
import { randomUUID } from "node:crypto";
import { headerNames, parseUrl, type SecretEncoding, schemeNamed } from "@posthorn/wire";
import type { Command } from "commander";
import { addCompanions, digestOf, signRequest, vendorStyleOf } from "posthorn/internal";
import { usage } from "../failure.ts";
import { readAll, readNamedFile } from "../remote/data.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, jsonText } from "../terminal/text.ts";
import {
  prefixOf,
  requireSigningSecrets,
  SCHEMES_OPTION,
  SECRET_ENCODING_OPTION,
  schemesOf,
  secretsOf,
} from "../views/secrets.ts";

interface SignFlags {
  readonly secret: readonly string[];
  readonly secretEncoding?: SecretEncoding;
  readonly scheme?: string;
  readonly to?: string;
  readonly type: string;
  readonly contentType: string;
  readonly id?: string;
  readonly timestamp?: string;
  readonly headerPrefix?: string;
  readonly body?: string;
  readonly json?: boolean;
}

export function addSign(program: Command, terminal: Terminal): void {
  program
    .command("sign")
    .description("print the signature headers of a body read from standard input; works offline")
    .requiredOption(
      "--secret <secret...>",
      "whsec_… or whsk_…, or any text for a vendor's scheme; several during a rotation",
    )
    .addOption(SECRET_ENCODING_OPTION)
    .addOption(SCHEMES_OPTION)
    .option("--to <url>", "URL of the receiver, for schemes that sign the URL")
    .option("--type <type>", "type of the event, which some vendors send in a header", "webhook.test")
    .option(
      "--content-type <type>",
      "content type of the body, for HTTP Message Signatures",
      "application/json",
    )
    .option("--id <id>", "id of the event (default: a new one)")
    .option("--timestamp <seconds>", "Unix time (default: now)")
    .option("--header-prefix <prefix>", "prefix of the headers (default X-Webhook)")
    .option("--body <file>", "read the body from a file")
    .option("--json", "print JSON")
    .action((flags: SignFlags) => run(terminal, flags));
}

async function run(terminal: Terminal, flags: SignFlags): Promise<void> {
  const headerPrefix = prefixOf(flags.headerPrefix);
  const schemes = schemesOf(flags.scheme, headerPrefix);
  const timestamp = flags.timestamp ?? String(Math.floor(Date.now() / 1000));
  if (!/^\d{1,12}$/.test(timestamp)) throw usage("--timestamp must be a Unix time in whole seconds.");
  const id = flags.id ?? `evt_${randomUUID()}`;
  if (!/^[\x21-\x2d\x2f-\x7e]{1,255}$/.test(id))
    throw usage("--id must be visible ASCII characters without a dot.");
  const secrets = secretsOf(flags.secret, flags.secretEncoding);
  requireSigningSecrets(schemes, secrets);
  const target = targetUrl(flags.to, schemes);
  const body = flags.body === undefined ? await readAll(terminal.stdin) : readNamedFile("--body", flags.body);

  const look = vendorStyleOf({ schemes, headerPrefix });
  const url = target === undefined ? "" : (look.urlToSend?.(target, digestOf(body)) ?? target);
  const now = new Date(Number(timestamp) * 1000);
  const names = headerNames(headerPrefix);
  const headers: Record<string, string> = {
    ...(schemes.some(isMessageSignature) && { "content-type": flags.contentType }),
    ...(look.hasOwnHeaders && { [names.id]: id, [names.timestamp]: timestamp }),
  };
  const message = { id, timestamp, body, method: "POST", url };
  signRequest(headers, { schemes, headerPrefix }, message, { shared: secrets, ofScheme: null }, now);
  addCompanions(headers, look, { event: eventOf(flags, id, now, body), attempts: 0 }, {});
  const lines = Object.entries(headers).map(([name, value]) => `${clean(name)}: ${clean(value)}`);
  terminal.print(flags.json ? jsonText(headers) : lines.join("\n"));
  if (target !== undefined && url !== target)
    terminal.printError(`Send it to ${clean(url)}, because the URL is signed.`);
}

/** The event that companion headers are derived from. */
function eventOf({ type }: SignFlags, id: string, createdAt: Date, payload: Uint8Array) {
  const uuid = id.replace(/^evt_/, "");
  return { id: uuid, type, createdAt, payload, tenant: "", apiVersion: "1", subject: null, sequence: null };
}

function isMessageSignature(name: string): boolean {
  return schemeNamed(name).isMessageSignature === true;
}

function targetUrl(given: string | undefined, schemes: readonly string[]): string | undefined {
  if (given !== undefined && parseUrl(given) === null)
    throw usage(`--to must be a URL such as https://example.com/hooks, not ${JSON.stringify(given)}.`);
  const signing = schemes.find(
    (name) => schemeNamed(name).signedUrls !== undefined || isMessageSignature(name),
  );
  if (signing !== undefined && given === undefined)
    throw usage(`${signing} signs the URL: set it with --to.`);
  return given;
}
