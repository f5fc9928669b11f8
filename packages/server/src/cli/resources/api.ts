// `posthorn api`: calls any operation of the API by its name.
import type { Command } from "commander";
import { flagsOf, openRemote, type RemoteFlags, remoteOptions } from "../remote/remote.ts";
import type { Terminal } from "../terminal/terminal.ts";

interface ApiFlags extends RemoteFlags {
  readonly data?: string;
}

export function addApi(program: Command, terminal: Terminal): void {
  const command = program
    .command("api")
    .description("call any operation of the API by its name; without one, list them")
    .argument("[operation]", "such as endpoints.list")
    .argument("[parameters...]", "path and query parameters such as tenant=acme limit=10")
    .option("--data <json>", "the body: JSON, @file, or -");
  remoteOptions(command).action(
    async (name: string | undefined, parameters: string[], _own: ApiFlags, own: Command) => {
      const flags = flagsOf<ApiFlags>(own);
      const { call, list } = await import("./call-operation.ts");
      // the list needs neither a server nor a key
      if (name === undefined) list(terminal, flags.json ?? false);
      else await call(await openRemote(terminal, flags), name, parameters, flags.data);
    },
  );
}
