// All commands of the CLI. Every command line defines them all, so their definitions must load quickly: what a command needs
// to run is imported when it runs (tests/unit/command-start.test.ts).
import { Command } from "commander";
import { VERSION } from "../version.ts";
import { addCatalog } from "./catalog/catalog.ts";
import { addCompletion } from "./completion.ts";
import { addListen } from "./follow/listen.ts";
import { addTail } from "./follow/tail.ts";
import { addLocalCommands } from "./local/commands.ts";
import { remoteOptions } from "./remote/remote.ts";
import { addApi } from "./resources/api.ts";
import { addAudit } from "./resources/audit.ts";
import { addDeliveries } from "./resources/deliveries.ts";
import { addDelivery } from "./resources/delivery.ts";
import { addEndpoints } from "./resources/endpoints.ts";
import { addEventTypes } from "./resources/event-types.ts";
import { addEvents } from "./resources/events.ts";
import { addExport } from "./resources/export.ts";
import { addKeys } from "./resources/keys.ts";
import { addMembers } from "./resources/members.ts";
import { addPublish } from "./resources/publish.ts";
import { addReplay } from "./resources/replay.ts";
import { addSources } from "./resources/sources.ts";
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
  addLocalCommands(program, terminal);
  addPublish(program, terminal);
  addTrace(program, terminal);
  addTail(program, terminal);
  addListen(program, terminal);
  addStats(program, terminal);
  addDelivery(program, terminal);
  addEvents(program, terminal);
  addEventTypes(program, terminal);
  addCatalog(program, terminal);
  addDeliveries(program, terminal);
  addReplay(program, terminal);
  addSources(program, terminal);
  addEndpoints(program, terminal);
  addTenants(program, terminal);
  addMembers(program, terminal);
  addKeys(program, terminal);
  addAudit(program, terminal);
  addExport(program, terminal);
  addApi(program, terminal);
  addSign(program, terminal);
  addVerify(program, terminal);
  addCompletion(program, terminal);
  return program;
}
