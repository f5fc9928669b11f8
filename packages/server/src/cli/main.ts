// The posthorn command: what it knows, and how it says that something went wrong.
import { Command, Option } from "commander";
import { isPosthornError } from "../api/problem.ts";
import { ConfigError } from "../config.ts";
import { EmbeddedPostgresError } from "../embedded-postgres/embedded-postgres-error.ts";
import { ListenError } from "../server.ts";
import { VERSION } from "../version.ts";
import { type DevFlags, dev } from "./commands/dev.ts";
import { type MigrateFlags, migrate } from "./commands/migrate.ts";
import { type ServeFlags, serve } from "./commands/serve.ts";
import { EncryptionKeyError } from "./encryption-keys.ts";
import { StartError } from "./installation.ts";
import { KeyFileError } from "./key-file.ts";
import { complain } from "./output.ts";

export function createProgram(): Command {
  const program = new Command("posthorn")
    .description("Durable outbound webhooks on your own PostgreSQL")
    .version(VERSION)
    .showHelpAfterError("(add --help for what there is)");
  const port = new Option("-p, --port <number>", "port of the HTTP server (PORT, default 8400)");
  const host = new Option("--host <address>", "address to listen on (HOST, default 127.0.0.1)");
  const dataDir = new Option(
    "--data-dir <folder>",
    "embedded database and keys (POSTHORN_DATA_DIR, default .posthorn)",
  );
  program
    .command("dev")
    .description("start everything on this machine and deliver a first event")
    .addOption(port)
    .addOption(host)
    .addOption(dataDir)
    .action((flags: DevFlags) => dev(flags));
  program
    .command("serve")
    .description("start the server")
    .addOption(
      new Option("--role <role>", "what this process does").choices(["all", "api", "worker"]).default("all"),
    )
    .addOption(port)
    .addOption(host)
    .addOption(dataDir)
    .action((flags: ServeFlags) => serve(flags));
  program
    .command("migrate")
    .description("bring the database to the schema of this version")
    .addOption(new Option("--dry-run", "print the SQL, change nothing").conflicts("status"))
    .option("--status", "say what is applied and what is pending")
    .option("--json", "answer in JSON")
    .addOption(dataDir)
    .action((flags: MigrateFlags) => migrate(flags));
  return program;
}

/** What a person can set right is a sentence; anything else is a bug and shows its stack. */
export function describeFailure(error: unknown): string {
  const isExpected =
    [ConfigError, EmbeddedPostgresError, EncryptionKeyError, KeyFileError, ListenError, StartError].some(
      (kind) => error instanceof kind,
    ) || isPosthornError(error);
  return isExpected
    ? (error as Error).message
    : `Posthorn failed unexpectedly.\n${error instanceof Error ? error.stack : String(error)}`;
}

export async function main(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(argv);
  } catch (error) {
    complain(describeFailure(error));
    process.exitCode = 1;
  }
}

await main(process.argv);
