// The commands that open the database on this machine. Each is imported when it runs, because the server is large.
import { type Command, Option } from "commander";
import type { DoctorFlags } from "../doctor/doctor.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ConfigFlags } from "./config-print.ts";
import type { DevFlags } from "./dev.ts";
import type { MigrateFlags } from "./migrate.ts";
import type { ReencryptFlags } from "./reencrypt.ts";
import type { ServeFlags } from "./serve.ts";

export function addLocalCommands(program: Command, terminal: Terminal): void {
  const port = new Option("-p, --port <number>", "port of the HTTP server (PORT, default 8400)");
  const host = new Option("--host <address>", "address to listen on (HOST, default 127.0.0.1)");
  const dataDir = new Option(
    "--data-dir <folder>",
    "embedded database and keys (POSTHORN_DATA_DIR, default .posthorn)",
  );
  const json = new Option("--json", "print JSON");
  const config = new Option("--config <file>", "settings file, YAML or JSON (POSTHORN_CONFIG)");
  program
    .command("dev")
    .description("start everything on this machine and deliver a first event")
    .addOption(port)
    .addOption(host)
    .addOption(dataDir)
    .addOption(config)
    .action(async (flags: DevFlags) => (await import("./dev.ts")).dev(flags, terminal));
  program
    .command("serve")
    .description("start the server")
    .addOption(
      new Option("--role <role>", "what this server does").choices(["all", "api", "worker"]).default("all"),
    )
    .option(
      "--processes <number>",
      "processes that share the port, or auto: one less than the cores (POSTHORN_PROCESSES, default auto)",
    )
    .addOption(port)
    .addOption(host)
    .addOption(dataDir)
    .addOption(config)
    .action(async (flags: ServeFlags) => (await import("./serve.ts")).serve(flags, terminal));
  program
    .command("migrate")
    .description("apply pending database migrations")
    .addOption(new Option("--dry-run", "print the SQL without applying it").conflicts("status"))
    .option("--status", "show applied and pending migrations")
    .addOption(json)
    .addOption(dataDir)
    .addOption(config)
    .action(async (flags: MigrateFlags) => (await import("./migrate.ts")).migrate(flags, terminal));
  program
    .command("reencrypt")
    .description("encrypt all endpoint secrets with the first encryption key, while servers run")
    .addOption(json)
    .addOption(dataDir)
    .addOption(config)
    .action(async (flags: ReencryptFlags) => (await import("./reencrypt.ts")).reencrypt(flags, terminal));
  program
    .command("doctor")
    .description("check the configuration of this machine; exit code 1 if there is a problem")
    .addOption(dataDir)
    .addOption(config)
    .addOption(json)
    .action(async (flags: DoctorFlags) => (await import("../doctor/doctor.ts")).doctor(flags, terminal));
  program
    .command("config")
    .description("show the settings of this machine")
    .command("print")
    .description(
      "check every setting, and print it with its value and where it comes from; secrets are masked",
    )
    .addOption(dataDir)
    .addOption(config)
    .addOption(json)
    .addOption(
      new Option("--yaml", "print a settings file with these values, without secrets").conflicts("json"),
    )
    .action(async (flags: ConfigFlags) => (await import("./config-print.ts")).printConfig(flags, terminal));
}
