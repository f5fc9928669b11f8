// `sign`, `verify` and `completion`: commands that need nobody.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { operationsOf } from "@posthorn/client";
import {
  generateSecret,
  generateSigningKey,
  headersAddedBy,
  schemeNamed,
  TOKEN_SCHEMES,
  vendors,
} from "@posthorn/wire";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CommandOptions, runCommand } from "../../../../tests/support/run-command.ts";

const secret = generateSecret();
const body = '{"id":"evt_1","data":{"total":1.0}}';

/** A request as it would come over the wire, signed just now unless told. */
async function request(args: readonly string[] = [], text = body): Promise<string> {
  const { code, out, err } = await runCommand(["sign", "--secret", secret, ...args], { stdin: text });
  expect([code, err]).toEqual([0, ""]);
  return `POST /hooks HTTP/1.1\r\nHost: example.com\r\n${out.trim().replaceAll("\n", "\r\n")}\r\n\r\n${text}`;
}

const verify = (args: readonly string[], options: CommandOptions) => runCommand(["verify", ...args], options);

describe("sign and verify", () => {
  test("agree, and verify lists the valid schemes", async () => {
    const result = await verify(["--secret", secret], { stdin: await request() });
    expect(result.code).toBe(0);
    expect(result.out).toBe(
      "valid    t-v1: signed with the given secret, within the tolerance\n" +
        "valid    standard-webhooks: signed with the given secret, within the tolerance\n",
    );
    const { json } = await verify(["--secret", secret, "--json"], { stdin: await request() });
    expect(json).toEqual({
      valid: true,
      findings: ["t-v1", "standard-webhooks"].map((scheme) => ({
        scheme,
        ok: true,
        reason: null,
        message: expect.any(String),
      })),
    });
  });

  test.each(["t-v1", "sha256", "two-headers", "standard-webhooks"])("agree on %s alone", async (scheme) => {
    const { code, out } = await verify(["--secret", secret], { stdin: await request(["--scheme", scheme]) });
    expect([code, out]).toEqual([0, expect.stringContaining(`valid    ${scheme}:`)]);
  });

  test.each(Object.keys(vendors))("agree on the signature of %s", async (scheme) => {
    const { key } = schemeNamed(scheme);
    const { signingKey, publicKey } = await generateSigningKey();
    const [signing, verifying] =
      key === "ed25519"
        ? [signingKey, publicKey]
        : Array<string>(2).fill(key === "text" ? "any text at all" : secret);
    const stdin = JSON.stringify({ webhookTimestamp: Date.now() });
    const to = ["--to", "https://shop.example/hooks?a=1"];
    const args = ["sign", "--secret", signing as string, "--scheme", scheme, "--type", "order.paid", ...to];
    const { code, json, err } = await runCommand([...args, "--json"], { stdin });
    expect([code, Object.keys(json).toSorted()]).toEqual([0, headersAddedBy(scheme).toSorted()]);
    const sentTo = /Send it to (\S+), because the URL is signed/.exec(err)?.[1] ?? to[1];
    const headers = Object.entries(json).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
    const check = ["--secret", verifying as string, ...headers, "--to", sentTo as string];
    const good = await verify(check, { stdin });
    expect([good.code, good.out]).toEqual([0, expect.stringContaining(`valid    ${scheme}:`)]);
    // a token does not cover the body
    const isWrong = TOKEN_SCHEMES.includes(scheme)
      ? verify(["--secret", "another", ...check.slice(2)], { stdin })
      : verify(check, { stdin: `${stdin}.` });
    expect((await isWrong).code).toBe(1);
  });

  test("sign creates HTTP Message Signatures, and verify refers to a library for them", async () => {
    const args = ["--scheme", "rfc9421", "--to", "https://shop.example/hooks"];
    const signed = await request(args);
    expect(signed).toMatch(/^content-type: application\/json\r\n/m);
    expect(signed).toMatch(/^Signature-Input: sig1=\("@method" "@target-uri" "content-type" /m);
    const result = await verify(["--secret", secret], { stdin: signed });
    expect([result.code, result.err]).toEqual([2, expect.stringContaining("a library for that standard")]);
  });

  test("the signed URL is read from the request line and the Host header", async () => {
    const args = ["sign", "--secret", secret, "--scheme", "square", "--to", "https://example.com/hooks"];
    const { out } = await runCommand(args, { stdin: body });
    const asSent = `POST /hooks HTTP/1.1\r\nHost: example.com\r\n${out.trim()}\r\n\r\n${body}`;
    expect((await verify(["--secret", secret], { stdin: asSent })).code).toBe(0);
    const elsewhere = await verify(["--secret", secret, "--to", "https://example.com/other"], {
      stdin: asSent,
    });
    expect(elsewhere.out).toContain("the URL used was https://example.com/other");
    const nowhere = await verify(["--secret", secret], { stdin: `${out.trim()}\n\n${body}` });
    expect([nowhere.code, nowhere.out]).toEqual([1, expect.stringContaining("the URL is signed too")]);
  });

  test("agree on an ed25519 key with a custom prefix and id, and accept single headers", async () => {
    const { signingKey, publicKey } = await generateSigningKey();
    const args = [
      "--secret",
      signingKey,
      "--scheme",
      "standard-webhooks-v1a",
      "--id",
      "evt_1",
      "--header-prefix",
      "X-Shop",
      "--json",
    ];
    const { json } = await runCommand(["sign", ...args], { stdin: body });
    const headers = Object.entries(json).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
    const result = await verify(["--secret", publicKey, "--header-prefix", "X-Shop", ...headers], {
      stdin: body,
    });
    expect([result.code, result.out]).toEqual([0, expect.stringContaining("valid    standard-webhooks-v1a")]);
  });

  test("a request or a body can be in a file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "posthorn-verify-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "request"), await request());
    expect((await verify(["--secret", secret, "--request", join(folder, "request")], {})).code).toBe(0);
    writeFileSync(join(folder, "body"), body);
    const { json } = await runCommand(["sign", "--secret", secret, "--body", join(folder, "body"), "--json"]);
    const headers = Object.entries(json).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
    expect((await verify(["--secret", secret, ...headers, "--body", join(folder, "body")], {})).code).toBe(0);
  });
});

describe("verify explains failures", () => {
  const anHourAgo = String(Math.floor(Date.now() / 1000) - 3600);

  test.each<[what: string, make: () => Promise<string>, args: string[], says: string]>([
    [
      "another secret",
      () => request(),
      ["--secret", generateSecret()],
      "none of the given secrets signed these bytes",
    ],
    [
      "an old timestamp",
      () => request(["--timestamp", anHourAgo]),
      ["--secret", secret],
      "the timestamp is older than the tolerance",
    ],
    [
      "a time to come",
      () => request(),
      ["--secret", secret, "--now", "2020-01-01T00:00:00Z"],
      "the timestamp is in the future",
    ],
    [
      "a line end more",
      async () => `${await request()}\n`,
      ["--secret", secret],
      "the body was changed in transit: a line ending was added",
    ],
    [
      "a line end less",
      async () => (await request([], `${body}\n`)).slice(0, -1),
      ["--secret", secret],
      "the last line ending is missing",
    ],
    [
      "JSON written again",
      async () => (await request([], '{"a":1}')).replace('{"a":1}', '{\n  "a": 1\n}'),
      ["--secret", secret],
      "the JSON was parsed and serialised again",
    ],
    [
      "a body that differs",
      async () => (await request()).replace("1.0", "2.0"),
      ["--secret", secret],
      "or the body was changed",
    ],
    [
      "a signature of no form",
      async () => (await request(["--scheme", "t-v1"])).replace(/t=\d+,v1=\S+/, "nonsense"),
      ["--secret", secret],
      "the header X-Webhook-Signature is not written as t-v1 is",
    ],
    [
      "an id that was dropped",
      async () => (await request(["--scheme", "standard-webhooks"])).replace(/^webhook-id:.*\r\n/m, ""),
      ["--secret", secret],
      "the header webhook-id is missing",
    ],
  ])("%s", async (_what, make, args, says) => {
    const result = await verify(args, { stdin: await make() });
    expect(result.code).toBe(1);
    expect(result.out).toContain(says);
    expect(result.err).toContain("no valid signature");
    expect(result.out + result.err).not.toContain(secret);
    const json = await verify([...args, "--json"], { stdin: await make() });
    expect([json.code, json.json.valid]).toEqual([1, false]);
  });

  test("checks the age with the given tolerance, and not with a tolerance of 0", async () => {
    const stdin = await request(["--timestamp", "1700000000"]);
    const at = (seconds: number) => new Date((1_700_000_000 + seconds) * 1000).toISOString();
    const codeAt = async (...args: string[]) => (await verify(["--secret", secret, ...args], { stdin })).code;
    expect(await codeAt("--tolerance", "0")).toBe(0);
    expect(await codeAt("--now", at(300))).toBe(0);
    expect(await codeAt("--now", at(301))).toBe(1);
  });

  test.each<[what: string, args: string[], stdin: string, says: string]>([
    ["no request", [], body, "The empty line between headers and body is missing"],
    [
      "no signature",
      [],
      `Host: x\n\n${body}`,
      "There is no X-Webhook-Signature and no webhook-signature header, nor one of a vendor. Check that the whole request was passed.",
    ],
    ["another prefix", [], `X-Shop-Signature: t=1,v1=00\n\n${body}`, "use --header-prefix x-shop"],
    ["a line that is no header", [], `nonsense\n\n${body}`, '"nonsense" is not a header'],
    ["both ways at once", ["--header", "a: b", "--request", "x"], "", "not both"],
    ["a tolerance in words", ["--tolerance", "long"], "", "--tolerance must be a whole number"],
    ["a time in words", ["--now", "soon"], "", "--now must be a time"],
  ])("usage error: %s", async (_what, args, stdin, says) => {
    const result = await verify(["--secret", secret, ...args], { stdin });
    expect([result.code, result.out]).toEqual([2, ""]);
    expect(result.err).toContain(says);
  });
});

test.each<[what: string, args: string[], says: string]>([
  ["half a secret", ["--secret", "whsec_abc"], "is incomplete"],
  ["schemes that do not go together", ["--secret", secret, "--scheme", "t-v1,sha256"], "choose one"],
  ["a scheme that signs the URL, without it", ["--secret", "x", "--scheme", "twilio"], "set it with --to"],
  ["a URL that is none", ["--secret", "x", "--scheme", "twilio", "--to", "here"], "--to must be a URL"],
  ["a secret of another kind", ["--secret", secret, "--scheme", "discord"], "which needs a whsk_"],
  ["a time in words", ["--secret", secret, "--timestamp", "now"], "--timestamp must be a Unix time"],
  ["an id with a dot", ["--secret", secret, "--id", "a.b"], "without a dot"],
  ["a prefix that is none", ["--secret", secret, "--header-prefix", "X Shop"], "header prefix"],
  [
    "a key that cannot sign",
    ["--secret", "whpk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],
    "None of the secrets can sign",
  ],
])("sign rejects %s", async (_what, args, says) => {
  const result = await runCommand(["sign", ...args], { stdin: body });
  expect([result.code, result.out]).toEqual([2, ""]);
  expect(result.err).toContain(says);
});

describe("completion", () => {
  test("bash completes commands, subcommands and options", async () => {
    const { out } = await runCommand(["completion", "bash"]);
    const complete = (...words: string[]): string[] => {
      const script = `${out}\nCOMP_WORDS=(posthorn ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _posthorn; echo "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split(" ");
    };
    expect(complete("tr")).toEqual(["trace"]);
    expect(complete("endpoints", "e")).toEqual(["enable"]);
    expect(complete("endpoints", "rotate-secret", "ep_1", "--ov")).toEqual(["--overlap-seconds"]);
    expect(complete("endpoints", "list", "--tenant", "acme", "--j")).toEqual(["--json"]);
    expect(complete("deliveries", "list", "--state", "")).toEqual([
      "pending",
      "in_flight",
      "success",
      "failed",
      "dead",
    ]);
    expect(complete("deliveries", "list", "--state", "de")).toEqual(["dead"]);
    expect(complete("deliveries", "list", "--state", "=", "su")).toEqual(["success"]);
    expect(complete("deliveries", "list", "--state", "=")).toContain("dead");
    expect(complete("members", "put", "anna", "--tenant", "acme", "--role", "o")).toEqual(["owner"]);
    expect(complete("deliveries", "list", "--state", "dead", "--ty")).toEqual(["--type"]);
    expect(complete("event-types", "export", "--format", "as")).toEqual(["asyncapi"]);
    expect(complete("sign", "--scheme", "str")).toEqual(["stripe"]);
    expect(complete("endpoints", "create", "--format", "cloudevents-b")).toEqual([
      "cloudevents-binary",
      "cloudevents-batch",
    ]);
    expect(complete("stats", "--period", "")).toEqual(["hour", "day"]);
    expect(complete("aud")).toEqual(["audit"]);
    expect(complete("serve", "--role", "w")).toEqual(["worker"]);
    expect(complete("completion", "z")).toEqual(["zsh"]);
    expect(complete("")).toEqual(expect.arrayContaining(["dev", "serve", "listen", "completion"]));
  });

  test("zsh and fish are supported, and other shells are rejected", async () => {
    expect((await runCommand(["completion", "zsh"])).out).toMatch(/^#compdef posthorn\n.*bashcompinit/s);
    expect((await runCommand(["completion", "fish"])).out).toContain(
      "__fish_seen_subcommand_from endpoints; and __fish_seen_subcommand_from enable",
    );
    expect((await runCommand(["completion", "fish"])).out).toContain(
      "complete -c posthorn -n '__fish_seen_subcommand_from serve' -l role -x -a 'all api worker'",
    );
    expect(await runCommand(["completion", "powershell"])).toMatchObject({ code: 2, out: "" });
  });
});

test("the operations of the API are listed without a server and without a key", async () => {
  const env = { POSTHORN_DATA_DIR: "/nowhere" };
  expect((await runCommand(["api"], { env })).out).toMatch(/endpoints\.rotateSecret +POST/);
  const names = (await runCommand(["api", "--json"], { env })).json.map(({ name }: { name: string }) => name);
  expect(names).toEqual(operationsOf().map(([name]) => name));
});

test("help and version succeed, and every command has help", async () => {
  expect(await runCommand(["--help"])).toMatchObject({ code: 0, err: "" });
  expect((await runCommand(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await runCommand(["endpoints", "create", "--help"])).out).toContain("--description <text>");
  expect((await runCommand(["nonsense", "--json"])).err).toContain('{"error":{"code":"usage"');
});
