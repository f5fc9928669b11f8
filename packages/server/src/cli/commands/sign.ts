// `posthorn sign`: the headers of a request as Posthorn would send it, made here, without a server.
import { randomUUID } from "node:crypto";
import { DEFAULT_SCHEMES, headerNames, parseSecret, sign } from "@posthorn/wire";
import type { Command } from "commander";
import { usage } from "../failure.ts";
import { readAll, readNamedFile } from "../remote/data.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, jsonText } from "../terminal/text.ts";
import { prefixOf, schemesOf, secretsOf } from "../views/secrets.ts";

interface SignFlags {
  readonly secret: readonly string[];
  readonly scheme?: string;
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
    .requiredOption("--secret <secret...>", "whsec_… or whsk_…; several while one is changed")
    .option("--scheme <schemes>", `comma between (default ${DEFAULT_SCHEMES.join(",")})`)
    .option("--id <id>", "the event's id (default: a new one)")
    .option("--timestamp <seconds>", "Unix time (default: now)")
    .option("--header-prefix <prefix>", "of the headers (default X-Webhook)")
    .option("--body <file>", "read the body from a file")
    .option("--json", "answer in JSON")
    .action((flags: SignFlags) => run(terminal, flags));
}

async function run(terminal: Terminal, flags: SignFlags): Promise<void> {
  const schemes = schemesOf(flags.scheme);
  const timestamp = flags.timestamp ?? String(Math.floor(Date.now() / 1000));
  if (!/^\d{1,12}$/.test(timestamp)) throw usage("--timestamp is a Unix time in whole seconds.");
  const headerPrefix = prefixOf(flags.headerPrefix);
  const id = flags.id ?? `evt_${randomUUID()}`;
  if (!/^[\x21-\x2d\x2f-\x7e]{1,255}$/.test(id)) throw usage("--id has visible ASCII characters and no dot.");
  const secrets = secretsOf(flags.secret);
  const body = flags.body === undefined ? await readAll(terminal.stdin) : readNamedFile("--body", flags.body);
  const names = headerNames(headerPrefix);
  const headers = {
    [names.id]: id,
    [names.timestamp]: timestamp,
    ...(await sign({ schemes, secrets, id, timestamp, body, headerPrefix }).catch((error: Error) => {
      const isForeign = secrets.some((secret) => parseSecret(secret) === null);
      throw usage(
        isForeign
          ? `A --secret is none of Posthorn's, which begin with whsec_ or whsk_. ${error.message}`
          : error.message,
      );
    })),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${clean(name)}: ${clean(value)}`);
  terminal.print(flags.json ? jsonText(headers) : lines.join("\n"));
}
