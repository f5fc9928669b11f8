// There is one way out: the guarded dispatcher. This reads every source file of every package and names whatever else
// could open a connection. What it cannot see through, such as a library, has to be on a list with its reason.
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readBareCode, readStrings } from "../support/read-strings.ts";

/** Module → what may be imported from it anywhere. Everything else of it can reach out. Types cannot. */
const networkModules: Record<string, readonly string[]> = {
  "node:http": ["createServer", "STATUS_CODES"],
  "node:https": ["createServer"],
  "node:net": ["createServer", "isIP", "isIPv4", "isIPv6"],
  "node:tls": ["rootCertificates"],
  "node:http2": [],
  "node:dgram": [],
  "node:dns": [],
  "node:dns/promises": [],
  // ways to get at the others unseen
  "node:module": [],
};

/** Libraries that a package may import. */
const libraries: Record<string, string> = {
  "@posthorn/wire": "ours, and scanned",
  "@posthorn/receiver": "ours, and scanned",
  posthorn: "ours, and scanned",
  "@posthorn/client": "ours, and scanned",
  "@posthorn/embedded-postgres": "ours, and scanned",
  "@posthorn/server": "ours, and scanned",
  zod: "checks values",
  commander: "reads the command line",
  "@opentelemetry/api": "hands spans to what the application has set up; opens nothing itself",
  pg: "connects to the operator's database, under the address the operator gave",
  nodemailer: "connects to the operator's mail server, under the address the operator gave",
};

/** File and module → why it may. */
const exceptions: Record<string, string> = {
  "packages/wire/src/signature/own-crypto.ts getBuiltinModule": "asks for node:crypto and nothing else",
  "packages/posthorn/src/attempt/guard/guarded-connector.ts undici":
    "it is the guard: opens sockets, to allowed addresses",
  "packages/posthorn/src/attempt/origin-pools.ts undici": "keeps the connections that the guard opened",
  "packages/posthorn/src/attempt/guard/resolve-name.ts node:dns/promises":
    "asks for addresses, which the guard checks",
  "packages/embedded-postgres/src/postmaster.ts node:net": "asks the embedded database on its Unix socket",
  "packages/embedded-postgres/src/binaries.ts node:module":
    "finds where the embedded PostgreSQL lies, loads nothing",
  "packages/client/src/call.ts fetch":
    "calls the server whose address it was given; of the server only the CLI imports it",
  "packages/receiver/src/websub/options.ts fetch":
    "asks topics and hubs in the program of whoever follows them, who can give another; Posthorn itself does not import it",
  "packages/server/src/cli/remote/connection.ts fetch":
    "calls the server that the user of the command named, on the user's own machine",
  "packages/server/src/cli/follow/forward.ts fetch":
    "forwards to the URL on the user's own command line; no customer has a say in it",
  "packages/server/src/cli/doctor/inspect.ts fetch": "asks the port that this server is to listen on",
  "packages/server/src/cli/local/dev-demo.ts node:net":
    "looks for other demos on this machine, loopback only",
};

interface SourceFile {
  readonly path: string;
  readonly source: string;
}

test("nothing but the dispatcher opens a connection", () => {
  const files = readSources();
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap(waysOut);
  expect(found.filter((way) => !(way in exceptions))).toEqual([]);
  // an exception that nobody needs any more would hide the next one
  expect(Object.keys(exceptions).filter((way) => !found.includes(way))).toEqual([]);
});

test.each([
  ["fetch", 'await fetch("https://example.com");'],
  ["fetch under another name", "const get = fetch;"],
  ["fetch of the global object", 'globalThis.fetch("https://example.com");'],
  ["fetch inside a template", `const text = \`\${await fetch(url)}\`;`],
  ["a WebSocket", "new WebSocket(url);"],
  ["an EventSource", "new EventSource(url);"],
  ["a module fetched at run time", 'process.getBuiltinModule("node:net").connect(80);'],
  ["a request", 'import { request } from "node:http";'],
  ["a request under the bare name", 'import { request } from "http";'],
  ["a request beside a server", 'import { createServer, request } from "node:http";'],
  ["a request under another name", 'import { request as createServer } from "node:https";'],
  ["a whole module", 'import http from "node:http";'],
  ["a namespace", 'import * as net from "node:net";'],
  ["a module without a clause", 'import "node:net";'],
  ["a connection", 'import { connect } from "node:net";'],
  ["a socket", 'import { type AddressInfo, Socket } from "node:net";'],
  ["a TLS connection", 'import { connect } from "node:tls";'],
  ["a lookup", 'import { lookup } from "node:dns/promises";'],
  ["a module loaded lazily", 'const { connect } = await import("node:net");'],
  ["a module required", 'const { connect } = require("node:net");'],
  ["an export of a module", 'export { connect } from "node:net";'],
  ["undici", 'import { Agent } from "undici";'],
  ["undici loaded lazily", 'const { request } = await import("undici");'],
  ["a library nobody knows", 'import axios from "axios";'],
  ["a subpath of one", 'import got from "@scope/got/dist/index.js";'],
])("%s is found", (_what, source) => {
  expect(waysOut({ path: "packages/posthorn/src/settle/a.ts", source })).toHaveLength(1);
});

test.each([
  ["a server", 'import { createServer, type Server } from "node:http";'],
  ["types", 'import type { Socket } from "node:net";'],
  [
    "a type in place",
    'import type { ServerResponse } from "node:http"; const headers = given as unknown as import("node:http").OutgoingHttpHeader[];',
  ],
  ["a type among names", 'import { isIP, type LookupFunction } from "node:net";'],
  [
    "a function of our own called fetch",
    'import { fetch } from "../storage/queries/queue/fetch.ts"; fetch(db);',
  ],
  ["one declared here", "export async function fetch(db) {} "],
  ["a method called fetch", "this.#fetch(); lanes.fetch();"],
  ["a field called fetch", "interface Options { fetch?: string; fetch: number }"],
  ["prose about fetch", '// fetch("x")\nconst text = "fetch(url), new WebSocket(url)";'],
  [
    "files and time",
    'import { readFile } from "node:fs/promises"; import { setTimeout } from "node:timers/promises";',
  ],
  ["our own packages", 'import { sign } from "@posthorn/wire"; import { matches } from "posthorn/internal";'],
])("%s is no way out", (_what, source) => {
  expect(waysOut({ path: "packages/posthorn/src/settle/a.ts", source })).toEqual([]);
});

/** `path what` for each. */
function waysOut({ path, source }: SourceFile): string[] {
  const code = readBareCode(source);
  const found = new Set([...importedWaysOut(source), ...globalWaysOut(code)]);
  return [...found].map((what) => `${path} ${what}`);
}

function importedWaysOut(source: string): string[] {
  return readStrings(source).flatMap(({ text, before }) => {
    const isImport = /(^|[^.\w])(from|import)$|(^|[^.\w])(import|require)\($/.test(before);
    const isType = /\bas import\($/.test(before);
    if (!isImport || isType || text.startsWith(".")) return [];
    const name = builtinModules.includes(text) ? `node:${text}` : text;
    return isHarmless(name, source, text) ? [] : [name];
  });
}

function isHarmless(name: string, source: string, specifier: string): boolean {
  const clauses = clausesOf(source, specifier);
  if (clauses?.every(({ isType }) => isType)) return true;
  const allowed = networkModules[name];
  if (allowed !== undefined)
    return clauses?.every(({ names }) => names.every((one) => allowed.includes(one))) ?? false;
  if (name.startsWith("node:")) return true;
  return name.split("/", name.startsWith("@") ? 2 : 1).join("/") in libraries;
}

interface Clause {
  readonly isType: boolean;
  /** Without those marked as types. */
  readonly names: readonly string[];
}

/** What is imported by `import { … } from` this module; null when it is got at in any other way too. */
function clausesOf(source: string, specifier: string): Clause[] | null {
  const quoted = `"${specifier.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}"`;
  const all = [...source.matchAll(new RegExp(`(?<!as import\\()${quoted}`, "g"))].length;
  const clauses = [...source.matchAll(new RegExp(`import (type )?\\{([^}]*)\\} from ${quoted}`, "g"))];
  if (clauses.length === 0 || clauses.length < all) return null;
  return clauses.map(([, type, list = ""]) => {
    const names = list
      .split(",")
      .map((name) => name.trim().split(" ")[0] as string)
      .filter((name) => name !== "" && name !== "type");
    return { isType: type !== undefined || names.length === 0, names };
  });
}

const GLOBALS = ["fetch", "WebSocket", "WebSocketStream", "EventSource", "XMLHttpRequest", "sendBeacon"];

function globalWaysOut(code: string): string[] {
  const found = GLOBALS.filter((name) => {
    const isBound = new RegExp(`import[^;]*\\b${name}\\b[^;]*from|function ${name}\\b`).test(code);
    const isUsed = new RegExp(
      `(?<![.#\\w$])${name}(?![\\w$?:])|globalThis\\.${name}\\b|navigator\\.${name}\\b`,
    );
    return !isBound && isUsed.test(code);
  });
  return code.includes("getBuiltinModule") ? [...found, "getBuiltinModule"] : found;
}

/** Runs in browsers, where the Content-Security-Policy of its pages lets it reach its own server and nothing else. */
const IN_BROWSERS = "dashboard";

function readSources(): SourceFile[] {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  return readdirSync(`${root}packages`)
    .filter((name) => name !== IN_BROWSERS)
    .map((name) => `packages/${name}/src`)
    .flatMap((src) => readdirSync(`${root}${src}`, { recursive: true }).map((path) => `${src}/${path}`))
    .filter((path) => /\.[cm]?[jt]sx?$/.test(path) && !/\.test\.|\/generated\//.test(path))
    .map((path) => ({ path, source: readFileSync(root + path, "utf8") }));
}
