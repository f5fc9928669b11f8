// Checks that only the guarded dispatcher opens connections. Libraries and exceptions are listed with their reasons.
import { builtinModules } from "node:module";
import { expect, test } from "vitest";
import { type Import, readCode, readSources, type SourceFile } from "./read-code.ts";

/** Module → names that may be imported anywhere. All other names can open connections, except types. */
const networkModules: Record<string, readonly string[]> = {
  "node:http": ["createServer", "STATUS_CODES"],
  "node:https": ["createServer"],
  "node:net": ["BlockList", "createServer", "isIP", "isIPv4", "isIPv6"],
  "node:tls": ["rootCertificates"],
  "node:http2": [],
  "node:dgram": [],
  "node:dns": [],
  "node:dns/promises": [],
  // could load the others dynamically
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
  commander: "parses the command line",
  yaml: "parses the settings file",
  "@opentelemetry/api": "passes spans to the SDK of the application; opens no connection itself",
  "@opentelemetry/sdk-node": "exports spans to the operator's collector, under the address the operator gave",
  pg: "connects to the operator's database, under the address the operator gave",
  nodemailer: "connects to the operator's mail server, under the address the operator gave",
};

/** File and module → reason for the exception. */
const exceptions: Record<string, string> = {
  "packages/wire/src/signature/own-crypto.ts getBuiltinModule": "loads only node:crypto",
  "packages/posthorn/src/attempt/guard/guarded-connector.ts node:net":
    "it is the guard: opens sockets to allowed addresses",
  "packages/posthorn/src/attempt/guard/guarded-connector.ts node:tls": "the same, with TLS",
  "packages/posthorn/src/attempt/guard/resolve-name.ts node:dns/promises":
    "resolves addresses, which the guard checks",
  "packages/posthorn/src/delivery/peers.ts node:net":
    "connects to Unix sockets of the same user in a private folder, never to an address",
  "packages/embedded-postgres/src/postmaster.ts node:net":
    "connects to the embedded database on its Unix socket",
  "packages/embedded-postgres/src/binaries.ts node:module":
    "resolves the path of the embedded PostgreSQL, loads nothing",
  "packages/server/src/cli/catalog/read-catalogue-file.ts node:module":
    "loads tsx, which loads the module of the application",
  "packages/client/src/call.ts fetch":
    "calls the server at the given address; in the server only the CLI imports it",
  "packages/receiver/src/websub/options.ts fetch":
    "requests topics and hubs in the subscriber's program, which can replace it; Posthorn itself does not import it",
  "packages/server/src/cli/remote/connection.ts fetch":
    "calls the server that the user of the command names, from the user's machine",
  "packages/server/src/cli/follow/forward.ts fetch":
    "forwards to the URL on the user's command line, which no customer controls",
  "packages/server/src/cli/doctor/inspect.ts fetch": "checks the port that this server is going to listen on",
  "packages/server/src/cli/local/dev-demo.ts node:net":
    "looks for other demos on this machine, loopback only",
};

test("nothing but the dispatcher opens a connection", () => {
  const files = readSources().filter(({ path }) => !path.startsWith(IN_BROWSERS));
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap(waysOut);
  expect(found.filter((way) => !(way in exceptions))).toEqual([]);
  // an unused exception would hide the next violation
  expect(Object.keys(exceptions).filter((way) => !found.includes(way))).toEqual([]);
});

test.each<[ways: 0 | 1, what: string, source: string]>([
  [1, "fetch under another name", "const get = fetch;"],
  [1, "fetch of the global object", 'globalThis.fetch("https://example.com");'],
  [1, "fetch inside a template", `const text = \`\${await fetch(url)}\`;`],
  [1, "a WebSocket", "new WebSocket(url);"],
  [1, "a built-in module", 'process.getBuiltinModule("node:net").connect(80);'],
  [1, "a request beside a server", 'import { createServer, request } from "http";'],
  [1, "a renamed request", 'import { request as createServer } from "node:https";'],
  [1, "a namespace", 'import * as net from "node:net";'],
  [1, "an import without names", 'import "node:net";'],
  [1, "a socket beside a type", 'import { type AddressInfo, Socket } from "node:net";'],
  [1, "a lazy import", 'const { connect } = await import("node:net");'],
  [1, "a required module", 'const { connect } = require("node:net");'],
  [1, "an export", 'export { connect } from "node:net";'],
  [1, "an unlisted library", 'import got from "@scope/got/dist/index.js";'],
  [0, "a server", 'import { createServer, type Server } from "node:http";'],
  [0, "a type", 'import type { Socket } from "node:net"; const x = y as import("node:net").Socket;'],
  [
    0,
    "our own fetch",
    'import { fetch } from "../storage/queries/queue/fetch.ts"; fetch(db); lanes.fetch();',
  ],
  [0, "a field called fetch", "interface Options { fetch?: string; fetch: number }"],
  [0, "prose about fetch", '// fetch("x")\nconst text = "fetch(url), new WebSocket(url)";'],
  [
    0,
    "our own packages",
    'import { sign } from "@posthorn/wire"; import { matches } from "posthorn/internal";',
  ],
])("%i ways out: %s", (count, _what, source) => {
  expect(waysOut({ path: "packages/posthorn/src/settle/a.ts", source })).toHaveLength(count);
});

/** Returns `path what` for each way to open a connection. */
function waysOut(file: SourceFile): string[] {
  const { imports, globals } = readCode(file);
  const modules = imports
    .filter(({ module }) => !module.startsWith("."))
    .map((one) => ({
      ...one,
      module: builtinModules.includes(one.module) ? `node:${one.module}` : one.module,
    }))
    .filter((one) => !isHarmless(one))
    .map(({ module }) => module);
  const found = new Set([...modules, ...GLOBALS.filter((name) => globals.has(name))]);
  return [...found].map((what) => `${file.path} ${what}`);
}

function isHarmless({ module, isType, names }: Import): boolean {
  if (isType) return true;
  const allowed = networkModules[module];
  if (allowed !== undefined) return names?.every((name) => allowed.includes(name)) ?? false;
  if (module.startsWith("node:")) return true;
  return module.split("/", module.startsWith("@") ? 2 : 1).join("/") in libraries;
}

const GLOBALS = [
  "fetch",
  "WebSocket",
  "WebSocketStream",
  "EventSource",
  "XMLHttpRequest",
  "sendBeacon",
  "getBuiltinModule",
];

/** Runs in browsers, where the Content-Security-Policy of its pages lets it reach its own server and nothing else. */
const IN_BROWSERS = "packages/dashboard/";
