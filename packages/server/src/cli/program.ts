// All commands of the CLI.
import { Command, Option } from "commander";
import { VERSION } from "../version.ts";
import { addCompletion } from "./completion.ts";
import { addDoctor } from "./doctor/doctor.ts";
import { addListen } from "./follow/listen.ts";
import { addTail } from "./follow/tail.ts";
import { type DevFlags, dev } from "./local/dev.ts";
import { type MigrateFlags, migrate } from "./local/migrate.ts";
import { addReencrypt } from "./local/reencrypt.ts";
import { type ServeFlags, serve } from "./local/serve.ts";
import { remoteOptions } from "./remote/remote.ts";
import { addApi } from "./resources/api.ts";
import { addAudit } from "./resources/audit.ts";
import { addDeliveries } from "./resources/deliveries.ts";
import { addEndpoints } from "./resources/endpoints.ts";
import { addEventTypes } from "./resources/event-types.ts";
import { addEvents } from "./resources/events.ts";
import { addKeys } from "./resources/keys.ts";
import { addMembers } from "./resources/members.ts";
import { addPublish } from "./resources/publish.ts";
import { addReplay } from "./resources/replay.ts";
import { addStats } from "./resources/stats.ts";
import { addTenants } from "./resources/tenants.ts";
import { addTrace } from "./resources/trace.ts";
import { addSign } from "./signature/sign.ts";
import { addVerify } from "./signature/verify.ts";
import type { Terminal } from "./terminal/terminal.ts";

export function createProgram(terminal: Terminal): Command {
  const program = remoteOptions(new Command("posthorn"))
    // options before the command name are global, those after it belong to the command
    .enablePositionalOptions()
    .description("Durable outbound webhooks on your own PostgreSQL")
    .version(VERSION)
    .showHelpAfterError("(add --help for usage)")
    // Throws instead of exiting, so that `run` sets the exit code. Commands added below inherit it.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.printError(text.trimEnd()),
    });
  addServers(program);
  addReencrypt(program, terminal);
  addDoctor(program, terminal);
  addPublish(program, terminal);
  addTrace(program, terminal);
  addTail(program, terminal);
  addListen(program, terminal);
  addStats(program, terminal);
  addEvents(program, terminal);
  addEventTypes(program, terminal);
  addDeliveries(program, terminal);
  addReplay(program, terminal);
  addEndpoints(program, terminal);
  addTenants(program, terminal);
  addMembers(program, terminal);
  addKeys(program, terminal);
  addAudit(program, terminal);
  addApi(program, terminal);
  addSign(program, terminal);
  addVerify(program, terminal);
  addCompletion(program, terminal);
  return program;
}

function addServers(program: Command): void {
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
    .description("apply pending database migrations")
    .addOption(new Option("--dry-run", "print the SQL without applying it").conflicts("status"))
    .option("--status", "show applied and pending migrations")
    .option("--json", "print JSON")
    .addOption(dataDir)
    .action((flags: MigrateFlags) => migrate(flags));
}
