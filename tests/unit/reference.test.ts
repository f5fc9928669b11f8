// A public option, error, setting or route is not done until its reference page lists it, and no page lists what is gone.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { operationsOf } from "@posthorn/client";
import { headerNames, RETRY_PRESETS, vendors } from "@posthorn/wire";
import { errorRegistry } from "posthorn";
import { describe, expect, test } from "vitest";
import { refusalsOf } from "../../packages/client/src/open-api.ts";
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
import { routesOf } from "../../packages/server/src/api/handler.ts";
import { httpErrorRegistry } from "../../packages/server/src/api/http-error.ts";
import { Sink } from "../../packages/server/src/api/sink.ts";
import { defaultText, settings } from "../../packages/server/src/config/settings.ts";

const page = (name: string): string =>
  readFileSync(new URL(`../../docs/reference/${name}.md`, import.meta.url), "utf8");

/** The names in the first column of a page's tables. */
const listed = (text: string): string[] =>
  [...text.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] as string);

/** The texts that a union type of the library allows. */
const membersOf = (type: string, path: string): string[] => {
  const source = readFileSync(new URL(`../../packages/posthorn/src/${path}`, import.meta.url), "utf8");
  const [, union = ""] = new RegExp(`export type ${type} =([^;]+);`).exec(source) ?? [];
  return [...union.matchAll(/"(\w+)"/g)].map((match) => match[1] as string);
};

describe("the reference", () => {
  test("lists every vendor whose webhooks a receiver reads, and every reason to refuse one", () => {
    const text = page("receiver-sources");
    for (const [name, { scheme }] of Object.entries(vendors)) {
      expect(text).toContain(`| \`${name}\` | \`${scheme.headers.signature(headerNames())}\` |`);
    }
    const verify = readFileSync(
      new URL("../../packages/wire/src/signature/verify.ts", import.meta.url),
      "utf8",
    );
    const [, union = ""] = /export type VerifyFailure =([^;]+);/.exec(verify) ?? [];
    const reasons = [...union.matchAll(/"(\w+)"/g)].map((match) => match[1] as string);
    expect(reasons.length).toBeGreaterThan(0);
    for (const reason of reasons) expect(text).toMatch(new RegExp(`^\\| .*\`${reason}\`.* \\|`, "m"));
  });

  test("lists every vendor that an endpoint can sign as", () => {
    const text = page("deliveries");
    for (const [name, { scheme }] of Object.entries(vendors)) {
      expect(text).toContain(`| \`${name}\` | \`${scheme.headers.signature(headerNames())}\` |`);
      for (const companion of Object.keys(scheme.companions ?? {})) {
        expect(text).toContain(companion.replace(/^(Twitch-Eventsub)-Message(-(?:Type|Retry))$/, "$2"));
      }
    }
  });

  test("shows the defaults that the library has", () => {
    const { endpointDefaults, ...config } = resolveConfig({ database: "postgres://x" });
    const { signature, timeoutMs, maxInFlight, retryPolicy, retryOn } = endpointDefaults;
    expect(retryPolicy).toBe(RETRY_PRESETS.courier);
    const expected = {
      retryPolicy: "courier",
      retryOn,
      timeoutMs,
      concurrency: config.concurrency,
      endpointConcurrency: maxInFlight,
      leaseMs: config.leaseMs,
      maxEndpointsPerTenant: config.maxEndpointsPerTenant,
      retentionDays: config.retention.retentionDays,
      deadRetentionDays: config.retention.deadRetentionDays ?? "none",
      idempotencyDays: config.retention.idempotencyDays,
      auditDays: config.retention.auditDays,
      headerPrefix: signature.headerPrefix,
      signatureSchemes: signature.schemes,
      userAgent: config.userAgent,
      schema: config.schema,
      enabled: config.enabled,
    };
    for (const [name, value] of Object.entries(expected)) {
      expect([name, defaultText(settings[name as keyof typeof expected])]).toEqual([name, String(value)]);
    }
  });

  test("knows the errors that operations tell of, by their statuses", () => {
    const errors: Record<string, { status: number }> = { ...errorRegistry, ...httpErrorRegistry };
    const told = operationsOf().flatMap(([id, operation]) =>
      Object.entries(refusalsOf(operation)).flatMap(([status, codes]) =>
        codes.map((code) => ({ id, code, status: Number(status) })),
      ),
    );
    expect(told.filter(({ code, status }) => errors[code]?.status !== status)).toEqual([]);
  });

  test("lists every option of the library", () => {
    const [, options = ""] = page("library").split("## Options");
    const [table = ""] = options.split("## What it does");
    expect(listed(table).toSorted()).toEqual([...optionNames].toSorted());
  });

  test("lists every option of the receiver's stores", () => {
    const [, postgres = "", sqlite = "", redis = ""] = page("receiver-stores").split(/^## /m);
    expect(listed(postgres)).toEqual(expect.arrayContaining([...postgresStoreOptionNames]));
    expect(listed(sqlite)).toEqual([...sqliteStoreOptionNames]);
    expect(listed(redis)).toEqual(expect.arrayContaining([...redisStoreOptionNames]));
  });

  test("lists every option of the WebSub subscriber", () => {
    const [, options = ""] = page("receiver-websub").split("## Options");
    const [table = ""] = options.split("## How a hub is found");
    expect(listed(table).toSorted()).toEqual([...subscriberOptionNames].toSorted());
  });

  test("lists every option and response of the receiver", () => {
    const [, options = ""] = page("receiver").split("## Options");
    const [table = "", rest = ""] = options.split("## Handlers");
    expect(listed(table).toSorted()).toEqual([...receiverOptionNames].toSorted());
    const [, responses = ""] = rest.split("## Responses");
    for (const [outcome, status] of Object.entries(OUTCOME_STATUS)) {
      expect(responses).toContain(`| \`${outcome}\` | ${status} |`);
    }
  });

  test("lists every error that an attempt can have", () => {
    const model = readFileSync(new URL("../../packages/posthorn/src/model.ts", import.meta.url), "utf8");
    const [, union = ""] = /export type AttemptError =([^;]+);/.exec(model) ?? [];
    const errors = [...union.matchAll(/"(\w+)"/g)].map((match) => match[1] as string);
    expect(errors.length).toBeGreaterThan(10);
    const [, table = ""] = page("deliveries").split("| error | |");
    expect(listed(table).toSorted()).toEqual(errors.toSorted());
  });

  test("lists every reason for which a delivery is dead", () => {
    const reasons = [
      ...membersOf("DeadReason", "model.ts"),
      ...membersOf("CancelReason", "storage/queries/queue/cancel.ts"),
    ];
    expect(reasons.length).toBeGreaterThan(7);
    expect(listed(page("http-api"))).toEqual(expect.arrayContaining(reasons));
  });

  test("lists every reason for which an endpoint did not get an event", () => {
    const reasons = membersOf("NotMatchedReason", "resources/deliveries/not-matched.ts");
    expect(reasons.length).toBeGreaterThan(7);
    expect(listed(page("filters"))).toEqual(expect.arrayContaining(reasons));
  });

  test("shows every operator of filters and its limits", () => {
    const text = page("filters");
    for (const operator of OPERATORS) expect(text).toContain(`"${operator}"`);
    expect(text).toContain(`| JSON of the filter | ${maxFilterBytes / 1024} KB |`);
    expect(text).toContain(`| levels, objects and lists | ${maxFilterDepth} |`);
    expect(text).toContain(`| conditions | ${maxFilterConditions} |`);
    expect(text).toContain(`| 1 to ${maxFilterList} |`);
    expect(text).toContain(`| ${maxElements.toLocaleString("en")} for an event.`);
  });

  test("lists every reason for which an endpoint is disabled", () => {
    const causes = membersOf("DisableCause", "model.ts");
    expect(causes.length).toBeGreaterThan(2);
    expect(listed(page("endpoint-health"))).toEqual(expect.arrayContaining(["manual", ...causes]));
  });

  test("lists every route", () => {
    const text = page("http-api");
    const routes = routesOf({ hooks: {}, signIn: {} } as never, {
      sink: { sink: new Sink(), readers: "public" },
    });
    expect(routes.length).toBeGreaterThan(15);
    for (const { path } of routes) expect(text).toContain(path);
  });
});

test.each(["wire", "receiver", "posthorn", "client", "server"])(
  "the package %s carries a README and the license",
  (folder) => {
    const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
    expect(read(`packages/${folder}/LICENSE`)).toBe(read("LICENSE"));
    expect(read(`packages/${folder}/README.md`)).toContain("docs/reference/");
  },
);

describe("the README", () => {
  test("shows the example as it is run", () => {
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
    const example = readFileSync(new URL("../../examples/order-paid.ts", import.meta.url), "utf8");
    expect(readme).toContain(example.slice(example.indexOf("import")).trim());
  });
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
  const withoutCode = (path: string): string =>
    readFileSync(join(root, path), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
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
    const text = readFileSync(join(root, "docs/decisions", name), "utf8");
    expect(text.trim().split(/\s+/).length).toBeLessThanOrEqual(300);
  });
});
