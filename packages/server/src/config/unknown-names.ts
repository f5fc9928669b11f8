// Finds names that are not settings, in the environment and in the settings file.
import { closest, snakeCase } from "@posthorn/wire";
import type { Environment } from "../config.ts";
import type { ConfigFile } from "./config-file.ts";
import { CONFIG_VARIABLE, fileKeyOf, settings } from "./settings.ts";

const variables = Object.values(settings).map(({ env }) => env);

/** Not settings, but allowed where a server is started: those of the commands that use the API. */
const OTHER_VARIABLES = [CONFIG_VARIABLE, "POSTHORN_URL", "POSTHORN_API_KEY", "POSTHORN_API_KEY_FILE"];

const PREFIX = /^POSTHORN_/;
const withoutPrefix = (name: string): string => name.replace(PREFIX, "");

export function unknownVariables(env: Environment): string[] {
  const known = [...variables.flatMap((name) => [name, `${name}_FILE`]), ...OTHER_VARIABLES];
  return Object.entries(env)
    .filter(([name, value]) => PREFIX.test(name) && value && !known.includes(name))
    .filter(([name, value]) => !isFromKubernetes(name, value ?? ""))
    .map(([name]) => {
      const bare = withoutPrefix(name);
      // The common prefix would make unrelated names similar.
      const match = known.includes(bare)
        ? bare
        : known.find(isNamed(closest(bare, known.map(withoutPrefix))));
      return unknown(name, match);
    });
}

function isNamed(bare: string | null): (variable: string) => boolean {
  return (variable) => withoutPrefix(variable) === bare;
}

/** Names in the style of variables and of options of the library get a suggestion too. */
export function unknownKeys({ entries }: ConfigFile): string[] {
  const known = variables.map(fileKeyOf).flatMap((key) => [key, `${key}_file`]);
  return entries
    .filter(({ key }) => !known.includes(key))
    .map(({ key, label }) => {
      const isVariable = key === key.toUpperCase();
      return unknown(label, closest(isVariable ? fileKeyOf(key) : snakeCase(key), known));
    });
}

function unknown(name: string, match: string | null | undefined): string {
  return `${name} is not a setting. ${match ? `Did you mean ${match}?` : "Remove it, or check its spelling."}`;
}

/** Kubernetes sets such variables in every container for a service named `posthorn…`. */
function isFromKubernetes(name: string, value: string): boolean {
  return (
    /_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$/.test(name) ||
    /_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (/_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value))
  );
}
