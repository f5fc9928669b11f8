// A public option, error, setting or route is not done until its reference page lists it, and no page lists what is gone.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { operationsOf } from "@posthorn/client";
import { headerNames, vendors } from "@posthorn/wire";
import { errorRegistry } from "posthorn";
import { describe, expect, test } from "vitest";
import { errorCodesOf } from "../../packages/client/src/open-api.ts";
import { optionNames, resolveConfig } from "../../packages/posthorn/src/config.ts";
import { maxElements } from "../../packages/posthorn/src/fan-out/filter.ts";
import {
  maxFilterBytes,
  maxFilterConditions,
  maxFilterDepth,
  maxFilterList,
  OPERATORS,
} from "../../packages/posthorn/src/fan-out/parse-filter.ts";
import { optionNames as receiverOptionNames } from "../../packages/receiver/src/options.ts";
import { OUTCOME_STATUS } from "../../packages/receiver/src/respond.ts";
import { postgresStoreOptionNames } from "../../packages/receiver/src/stores/postgres/postgres-store.ts";
import { redisStoreOptionNames } from "../../packages/receiver/src/stores/redis/redis-store.ts";
import { sqliteStoreOptionNames } from "../../packages/receiver/src/stores/sqlite/sqlite-store.ts";
import { subscriberOptionNames } from "../../packages/receiver/src/websub/options.ts";
import { httpErrorRegistry } from "../../packages/server/src/api/http-error.ts";
import { defaultText, settings } from "../../packages/server/src/config/settings.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

const page = (name: string): string => read(`docs/reference/${name}.md`);

/** The text between two others, or from the first to the end. */
const between = (text: string, start: string, end?: string): string => {
  const [, rest = ""] = text.split(start);
  return end === undefined ? rest : (rest.split(end)[0] as string);
};

/** The names in the first column of a page's tables. */
const listed = (text: string): string[] =>
  [...text.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] as string);

/** The members of a union type of strings, which follows a declaration. */
const membersOf = (declaration: string, path: string): string[] => {
  const [, union = ""] = new RegExp(`${declaration}([^;]+);`).exec(read(`packages/${path}`)) ?? [];
  return [...union.matchAll(/"(\w+)"/g)].map((match) => match[1] as string);
};

const [, postgresStore = "", sqliteStore = "", redisStore = ""] = page("receiver-stores").split(/^## /m);
const verifyFailures = membersOf("export type VerifyFailure =", "wire/src/signature/verify.ts");
const receiverEntryPoints = Object.keys(JSON.parse(read("packages/receiver/package.json")).exports)
  .filter((point) => point !== "./package.json")
  .map((point) => `@posthorn/receiver${point.slice(1)}`);

describe("the documentation lists", () => {
  test.each<[what: string, text: string, names: readonly string[]]>([
    ["options of the library", between(page("library"), "## Options", "## What it does"), optionNames],
    ["options of the receiver", between(page("receiver"), "## Options", "## Handlers"), receiverOptionNames],
    ["options of the SQLite store", sqliteStore, sqliteStoreOptionNames],
    [
      "options of the WebSub subscriber",
      between(page("receiver-websub"), "## Options", "## How a hub is found"),
      subscriberOptionNames,
    ],
    [
      "errors of an attempt",
      between(page("deliveries"), "| error | |"),
      membersOf("export type AttemptError =", "posthorn/src/model.ts"),
    ],
    [
      "reasons to reject a request",
      between(read("docs/guides/receiving.md"), "## Rejected requests"),
      [...verifyFailures, ...membersOf("readonly reason:", "receiver/src/hooks/hooks.ts")],
    ],
    ["entry points of the receiver", read("packages/receiver/README.md"), receiverEntryPoints],
  ])("all %s, and no other", (_what, text, names) => {
    expect(names.length).toBeGreaterThan(0);
    expect(listed(text).toSorted()).toEqual([...names].toSorted());
  });

  test.each<[what: string, text: string, names: readonly string[]]>([
    ["options of the PostgreSQL store", postgresStore, postgresStoreOptionNames],
    ["options of the Redis store", redisStore, redisStoreOptionNames],
    [
      "reasons for which a delivery is dead",
      page("http-api"),
      [
        ...membersOf("export type DeadReason =", "posthorn/src/model.ts"),
        ...membersOf("export type CancelReason =", "posthorn/src/storage/queries/queue/cancel.ts"),
      ],
    ],
    [
      "reasons for which an endpoint did not get an event",
      page("filters"),
      membersOf("export type NotMatchedReason =", "posthorn/src/resources/deliveries/not-matched.ts"),
    ],
    [
      "reasons for which an endpoint is disabled",
      page("endpoint-health"),
      ["manual", ...membersOf("export type DisableCause =", "posthorn/src/model.ts")],
    ],
    [
      "results of a replay of dead letters",
      page("receiver"),
      membersOf("export type ReplayResult =", "receiver/src/inbox/dead-letters.ts"),
    ],
  ])("all %s", (_what, text, names) => {
    expect(names.length).toBeGreaterThan(1);
    expect(listed(text)).toEqual(expect.arrayContaining([...names]));
  });

  test("every vendor with its signature, for receivers and for endpoints", () => {
    for (const [name, { scheme }] of Object.entries(vendors)) {
      const row = `| \`${name}\` | \`${scheme.headers.signature(headerNames())}\` |`;
      expect(page("receiver-sources")).toContain(row);
      expect(page("deliveries")).toContain(row);
      for (const companion of Object.keys(scheme.companions ?? {})) {
        const shown = companion.replace(/^(Twitch-Eventsub)-Message(-(?:Type|Retry))$/, "$2");
        expect(page("deliveries")).toContain(shown);
      }
    }
  });

  test("every reason for which a signature is rejected", () => {
    for (const reason of verifyFailures) {
      expect(page("receiver-sources")).toMatch(new RegExp(`^\\| .*\`${reason}\`.* \\|`, "m"));
    }
  });

  test("every outcome of the receiver with its status", () => {
    const responses = between(page("receiver"), "## Responses");
    for (const [outcome, status] of Object.entries(OUTCOME_STATUS)) {
      expect(responses).toContain(`| \`${outcome}\` | ${status} |`);
    }
  });

  test("every operator of filters and its limits", () => {
    const text = page("filters");
    for (const operator of OPERATORS) expect(text).toContain(`"${operator}"`);
    expect(text).toContain(`| JSON of the filter | ${maxFilterBytes / 1024} KB |`);
    expect(text).toContain(`| levels, objects and lists | ${maxFilterDepth} |`);
    expect(text).toContain(`| conditions | ${maxFilterConditions} |`);
    expect(text).toContain(`| 1 to ${maxFilterList} |`);
    expect(text).toContain(`| ${maxElements.toLocaleString("en")} for an event.`);
  });
});

test("the settings of the server have the defaults of the library", () => {
  const { deliveryMode: enabled, retention, schema } = resolveConfig({ database: "postgres://x" });
  const expected = {
    deadRetentionDays: retention.deadRetentionDays ?? "none",
    schema,
    enabled,
  };
  for (const [name, value] of Object.entries(expected)) {
    expect([name, defaultText(settings[name as keyof typeof expected])]).toEqual([name, String(value)]);
  }
});

test("the errors that operations document exist, with their status", () => {
  const errors: Record<string, { status: number }> = { ...errorRegistry, ...httpErrorRegistry };
  const documented = operationsOf().flatMap(([id, operation]) =>
    Object.entries(errorCodesOf(operation)).flatMap(([status, codes]) =>
      codes.map((code) => ({ id, code, status: Number(status) })),
    ),
  );
  expect(documented.filter(({ code, status }) => errors[code]?.status !== status)).toEqual([]);
});

test.each(["wire", "receiver", "posthorn", "client", "server"])(
  "the package %s contains a README and the license",
  (folder) => {
    expect(read(`packages/${folder}/LICENSE`)).toBe(read("LICENSE"));
    expect(read(`packages/${folder}/README.md`)).toContain("docs/reference/");
  },
);

test("the README shows the example that a test runs", () => {
  const example = read("examples/order-paid.ts");
  expect(read("README.md")).toContain(example.slice(example.indexOf("import")).trim());
});

describe("the documentation", () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const folders = ["", "docs", "docs/decisions", "docs/guides", "docs/reference", "examples", "deploy"];
  const packageFolders = readdirSync(join(root, "packages")).map((name) => `packages/${name}`);
  const pages = [...folders, ...packageFolders].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  );
  const withoutCode = (path: string): string => read(path).replaceAll(/^```[\s\S]*?^```$/gm, "");
  const anchorsOf = (path: string): string[] =>
    [...withoutCode(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    );

  test.each(pages)("%s links to existing files and headings", (page) => {
    for (const [, link = ""] of withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      const [path = "", heading] = link.split("#");
      const target = path === "" ? page : normalize(join(dirname(page), path));
      expect(existsSync(join(root, target)), link).toBe(true);
      if (heading !== undefined) expect(anchorsOf(target), link).toContain(heading);
    }
  });

  test.each(readdirSync(join(root, "docs/decisions")))("%s has at most 300 words", (name) => {
    expect(read(`docs/decisions/${name}`).trim().split(/\s+/).length).toBeLessThanOrEqual(300);
  });
});
