// Reads a catalogue from a module that declares types with `event()`, or from the JSON of `posthorn catalog pull`.
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isObject } from "@posthorn/wire";
import type { EventDeclarations } from "posthorn";
import { DeclaredTypes, entriesOf } from "posthorn/internal";
import { usage } from "../failure.ts";
import { readNamedFile } from "../remote/data.ts";
import type { CatalogueType } from "./server-catalogue.ts";

export interface CatalogueFile {
  readonly types: readonly CatalogueType[];
  /** Names of types whose validator provides no JSON Schema. */
  readonly withoutSchema: readonly string[];
}

/** `apiVersion` is that of types that declare none. */
export async function readCatalogueFile(file: string, apiVersion?: string): Promise<CatalogueFile> {
  return file.endsWith(".json") ? readJson(file) : await readModule(file, apiVersion);
}

function readJson(file: string): CatalogueFile {
  const wrong = (why: string) =>
    usage(`${file} ${why}. Use the output of \`posthorn catalog pull\`, or a module.`);
  let content: unknown;
  try {
    content = JSON.parse(readNamedFile("<file>", file).toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) throw wrong(`is not JSON: ${error.message}`);
    throw error;
  }
  const types = isObject(content) ? content.event_types : undefined;
  if (!Array.isArray(types) || !types.every(isType))
    throw wrong("has no list event_types of types with a name");
  const unreadable = types.find(({ redact }) => redact !== undefined && !Array.isArray(redact));
  if (unreadable !== undefined) throw wrong(`has a redact of ${unreadable.name} that is not a list of paths`);
  return { types: types.map((type) => ({ ...DEFAULTS, ...type })), withoutSchema: [] };
}

const DEFAULTS = {
  api_version: "1",
  description: null,
  schema: null,
  example: null,
  redact: [],
  deprecated: false,
};

function isType(value: unknown): value is CatalogueType {
  return isObject(value) && typeof value.name === "string";
}

async function readModule(file: string, apiVersion: string | undefined): Promise<CatalogueFile> {
  const module = await load(file);
  const declarations = module.events ?? module.default;
  if (!isObject(declarations))
    throw usage(
      `${file} exports no types. Export them as \`events\`: export const events = { "order.paid": event({ schema }) }`,
    );
  const entries = entriesOf(new DeclaredTypes(declarations as EventDeclarations, apiVersion));
  return {
    types: entries.map(({ apiVersion: api_version, redact, ...entry }) => ({
      ...inJson(entry),
      api_version,
      redact: [...redact],
    })),
    withoutSchema: entries.filter(({ schema }) => schema === null).map(({ name }) => name),
  };
}

/** As the server stores it: without undefined fields. */
function inJson<Entry>(entry: Entry): Entry {
  return JSON.parse(JSON.stringify(entry)) as Entry;
}

type Module = Readonly<Record<string, unknown>>;

async function load(file: string): Promise<Module> {
  const url = pathToFileURL(resolve(file)).href;
  try {
    return await import(/* @vite-ignore */ url);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_UNKNOWN_FILE_EXTENSION") return loadByTsx(file, url);
    throw usage(`${file} cannot be loaded: ${message}`);
  }
}

/** Node.js before 22.18 cannot load TypeScript. Most projects on it have tsx. */
function loadByTsx(file: string, url: string): Module {
  try {
    return createRequire(url)("tsx/cjs/api").require(resolve(file), url);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "MODULE_NOT_FOUND") throw usage(`${file} cannot be loaded: ${message}`);
    throw usage(
      `Node.js ${process.versions.node} cannot load ${file}. Use Node.js 22.18 or newer, install tsx beside the file, or use a JavaScript module.`,
    );
  }
}
