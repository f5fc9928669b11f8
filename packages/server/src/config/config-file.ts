// Reads the settings file. JSON is YAML, so one parser reads both; it is loaded only if a file is configured.
import { closeSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import type { Document, YAMLError } from "yaml";
import { ConfigError } from "./config-error.ts";

export interface ConfigFile {
  readonly path: string;
  readonly entries: readonly FileEntry[];
}

export interface FileEntry {
  readonly key: string;
  /** Where it is: `timeout_ms (posthorn.yaml:3)`. */
  readonly label: string;
  /** As an environment variable would have it; empty counts as unset. Null if it is no text, number, boolean or list. */
  readonly text: string | null;
  /** The value for settings that have a structure: a list or a map as JSON, anything else as it is written. */
  readonly json: string;
}

type Yaml = typeof import("yaml");

/** The parser compares each key with all others: 2 MB of keys take minutes. */
const MAX_BYTES = 256 * 1024;

/** Throws a `ConfigError` if the file cannot be read or has no settings by name. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  const source = read(path);
  const yaml = await import("yaml");
  const lineCounter = new yaml.LineCounter();
  const document = yaml.parseDocument(source, { lineCounter });
  if (document.errors.length > 0) {
    throw new ConfigError([...new Set(document.errors.map((error) => `${path}: ${problemOf(error)}`))]);
  }
  // an empty file
  if (document.contents === null) return { path, entries: [] };
  if (!yaml.isMap(document.contents)) {
    throw new ConfigError([`${path} must contain settings by name, such as port: 8400.`]);
  }
  const entries = document.contents.items.map(({ key, value }) => {
    const name = String(key);
    const { line } = lineCounter.linePos(yaml.isNode(key) ? (key.range?.[0] ?? 0) : 0);
    const label = `${name} (${basename(path)}:${line})`;
    // first, because it refuses aliases that contain themselves
    const json = jsonOf(value, document, label, yaml);
    const text = textOf(value, document, yaml);
    const isScalar = text !== null && !/^[[{]/.test(json);
    return { key: name, label, text, json: isScalar ? text : json };
  });
  return { path, entries };
}

function read(path: string): string {
  const bytes = readUpTo(path, MAX_BYTES + 1);
  if (bytes.length > MAX_BYTES)
    throw new ConfigError([`The settings file ${path} has more than ${MAX_BYTES / 1024} KB.`]);
  return bytes.toString("utf8");
}

/** The path may be a pipe or a device, whose size is unknown. */
function readUpTo(path: string, limit: number): Buffer {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(limit);
      let length = 0;
      let count: number;
      do {
        count = readSync(file, bytes, length, limit - length, null);
        length += count;
      } while (count > 0 && length < limit);
      return bytes.subarray(0, length);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code = "an error" } = error as { code?: string };
    throw new ConfigError([
      `The settings file ${path} cannot be read (${code}). Check --config or POSTHORN_CONFIG and its permissions.`,
    ]);
  }
}

function problemOf({ code, message }: YAMLError): string {
  // the parser's messages are for its callers
  if (code === "MULTIPLE_DOCS") return "has several documents, separated by ---. Keep one of them.";
  if (message.startsWith("Maximum call stack")) return "is nested too deeply.";
  // the rest quotes the line, which may contain a secret
  return message.split("\n")[0]?.replace(/:$/, ".") ?? "";
}

function jsonOf(value: unknown, document: Document, label: string, yaml: Yaml): string {
  try {
    return JSON.stringify(yaml.isNode(value) ? value.toJS(document) : null);
  } catch {
    // the parser gives no code: an alias without an anchor, inside its own anchor, or multiplied too often
    throw new ConfigError([
      `${label} has YAML aliases (*name) that contain themselves, have no anchor or repeat too much. Write the values out.`,
    ]);
  }
}

/** Scalars keep the text of the file: a key of 32 digits must not become a rounded number. */
function textOf(value: unknown, document: Document, yaml: Yaml): string | null {
  const node = yaml.isAlias(value) ? value.resolve(document) : value;
  if (yaml.isSeq(node)) {
    const items = node.items.map((item) => (yaml.isSeq(item) ? null : textOf(item, document, yaml)));
    return items.includes(null) ? null : items.join();
  }
  if (node === null || node === undefined) return "";
  if (!yaml.isScalar(node)) return null;
  if (node.value === null) return "";
  return typeof node.value === "string" ? node.value : (node.source ?? String(node.value));
}
