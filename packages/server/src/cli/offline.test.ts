// `sign`, `verify` and `completion`, which need no server.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
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
import { describe, expect, test } from "vitest";
import { argv, posthorn } from "../../../../tests/support/servers/run-command.ts";
import { makeTemporaryFolder } from "../../../../tests/support/temporary-folder.ts";

const secret = generateSecret();
const body = '{"id":"evt_1","data":{"total":1.0}}';

/** A raw HTTP request, signed now by default. */
async function request(args: readonly string[] = [], text = body): Promise<string> {
  const { code, out, err } = await posthorn({ stdin: text })`sign --secret ${secret} ${args}`;
  expect([code, err]).toEqual([0, ""]);
  return `POST /hooks HTTP/1.1\r\nHost: example.com\r\n${out.trim().replaceAll("\n", "\r\n")}\r\n\r\n${text}`;
}

const verify = (args: readonly string[], stdin = "") => posthorn({ stdin })`verify ${args}`;
const given = argv`--secret ${secret}`;
const headerOptions = (headers: object): string[] =>
  Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);

describe("sign and verify", () => {
  test("agree, and verify lists the valid schemes", async () => {
    const schemes = ["t-v1", "standard-webhooks"];
    const lines = schemes.map(
      (scheme) => `valid    ${scheme}: signed with the given secret, within the tolerance\n`,
    );
    expect(await verify(given, await request())).toMatchObject({ code: 0, out: lines.join("") });
    const { json } = await verify(argv`${given} --json`, await request());
    const message = expect.any(String);
    const findings = schemes.map((scheme) => ({ scheme, ok: true, reason: null, message }));
    expect(json).toEqual({ valid: true, findings });
  });

  test.each(Object.keys(vendors))("agree on the signature of %s", async (scheme) => {
    const { key } = schemeNamed(scheme);
    const { signingKey, publicKey } = await generateSigningKey();
    const [signing, verifying] =
      key === "ed25519"
        ? [signingKey, publicKey]
        : Array<string>(2).fill(key === "text" ? "any text at all" : secret);
    const stdin = JSON.stringify({ webhookTimestamp: Date.now() });
    const to = argv`--to https://shop.example/hooks?a=1`;
    const args = argv`sign --secret ${signing as string} --scheme ${scheme} --type order.paid ${to}`;
    const { code, json, err } = await posthorn({ stdin })`${args} --json`;
    expect([code, Object.keys(json).toSorted()]).toEqual([0, headersAddedBy(scheme).toSorted()]);
    const sentTo = /Send it to (\S+), because the URL is signed/.exec(err)?.[1] ?? to[1];
    const check = argv`--secret ${verifying as string} ${headerOptions(json)} --to ${sentTo as string}`;
    const out = expect.stringContaining(`valid    ${scheme}:`);
    expect(await verify(check, stdin)).toMatchObject({ code: 0, out });
    // a token does not cover the body
    const isWrong = TOKEN_SCHEMES.includes(scheme)
      ? verify(argv`--secret another ${check.slice(2)}`, stdin)
      : verify(check, `${stdin}.`);
    expect((await isWrong).code).toBe(1);
  });

  test.each([
    ["hex", "00ff"],
    ["base64", "AP8="],
    ["text", "any text"],
  ])("agree on a secret in %s", async (encoding, own) => {
    const given = argv`--secret ${own} --secret-encoding ${encoding}`;
    const { json } = await posthorn({ stdin: body })`sign ${given} --json`;
    expect((await verify(argv`${given} ${headerOptions(json)}`, body)).code).toBe(0);
    const wrong = await verify(argv`--secret ${"x".repeat(257)} --secret-encoding ${encoding}`, body);
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("1 to 256 bytes") });
  });

  test.each([
    ["hex", "00ff"],
    ["base64", "AP8="],
    ["text", "any text"],
  ])("verify takes an imported secret in %s and the one of its rotation", async (encoding, own) => {
    const both = argv`--secret ${own} ${secret} --secret-encoding ${encoding}`;
    for (const signing of [argv`--secret ${own} --secret-encoding ${encoding}`, argv`--secret ${secret}`]) {
      const { json } = await posthorn({ stdin: body })`sign ${signing} --json`;
      const { code, out } = await verify(argv`${both} ${headerOptions(json)}`, body);
      expect([code, out]).toEqual([0, expect.not.stringContaining("invalid")]);
    }
    const pair = await posthorn({ stdin: body })`sign --secret whsk_AAAA --secret-encoding ${encoding}`;
    expect(pair.code).toBe(2);
  });

  test("sign creates HTTP Message Signatures, and verify refers to a library for them", async () => {
    const signed = await request(argv`--scheme rfc9421 --to https://shop.example/hooks`);
    expect(signed).toMatch(/^content-type: application\/json\r\n/m);
    expect(signed).toMatch(/^Signature-Input: sig1=\("@method" "@target-uri" "content-type" /m);
    const err = expect.stringContaining("a library for that standard");
    expect(await verify(given, signed)).toMatchObject({ code: 2, err });
  });

  test("the signed URL is read from the request line and the Host header", async () => {
    const sent = await request(argv`--scheme square --to https://example.com/hooks`);
    expect((await verify(given, sent)).code).toBe(0);
    const elsewhere = await verify(argv`${given} --to https://example.com/other`, sent);
    expect(elsewhere.out).toContain("the URL used was https://example.com/other");
    const nowhere = await verify(given, sent.split("\r\n").slice(2).join("\n"));
    expect(nowhere).toMatchObject({ code: 1, out: expect.stringContaining("the URL is signed too") });
  });

  test("a request or a body can be in a file", async () => {
    const path = join(makeTemporaryFolder(), "file");
    writeFileSync(path, await request());
    expect((await verify(argv`${given} --request ${path}`)).code).toBe(0);
    writeFileSync(path, body);
    const { json } = await posthorn`sign ${given} --body ${path} --json`;
    expect((await verify(argv`${given} ${headerOptions(json)} --body ${path}`)).code).toBe(0);
  });
});

describe("verify", () => {
  const anHourAgo = Math.floor(Date.now() / 1000) - 3600;

  test.each<[what: string, make: () => Promise<string>, secret: string, says: string]>([
    ["another secret", () => request(), generateSecret(), "none of the given secrets signed these bytes"],
    [
      "an old timestamp",
      () => request(argv`--timestamp ${anHourAgo}`),
      secret,
      "is older than the tolerance",
    ],
    [
      "a changed body",
      async () => (await request()).replace("1.0", "2.0"),
      secret,
      "or the body was changed",
    ],
  ])("explains %s", async (_what, make, used, says) => {
    const args = argv`--secret ${used}`;
    const result = await verify(args, await make());
    const err = expect.stringContaining("no valid signature");
    expect(result).toMatchObject({ code: 1, out: expect.stringContaining(says), err });
    expect(result.out + result.err).not.toContain(secret);
    const json = await verify(argv`${args} --json`, await make());
    expect(json).toMatchObject({ code: 1, json: { valid: false } });
  });

  test("checks the age with the given tolerance, and not with a tolerance of 0", async () => {
    const signed = await request(argv`--timestamp 1700000000`);
    const at = (seconds: number) => new Date((1_700_000_000 + seconds) * 1000).toISOString();
    const codeWith = async (...args: string[]) => (await verify(argv`${given} ${args}`, signed)).code;
    expect(await codeWith("--tolerance", "0")).toBe(0);
    expect(await codeWith("--now", at(300))).toBe(0);
    expect(await codeWith("--now", at(301))).toBe(1);
  });
});

describe("completion", () => {
  test("bash completes commands, subcommands, options and their values", async () => {
    const cases: [words: string[], completions: string[]][] = [
      [["tr"], ["trace"]],
      [argv`endpoints e`, ["enable"]],
      [argv`endpoints rotate-secret ep_1 --ov`, ["--overlap-seconds"]],
      [argv`endpoints list --tenant acme --j`, ["--json"]],
      [argv`deliveries list --state de`, ["dead"]],
      [argv`deliveries list --state = su`, ["success"]],
      [argv`deliveries list --state dead --ty`, ["--type"]],
      [argv`sign --scheme str`, ["stripe"]],
      [argv`completion z`, ["zsh"]],
      [argv`completion ${""}`, ["bash", "zsh", "fish", "--help"]],
    ];
    const { out } = await posthorn`completion bash`;
    const calls = cases.map(([words]) => {
      const quoted = words.map((word) => `'${word}'`).join(" ");
      return `COMP_WORDS=(posthorn ${quoted}); COMP_CWORD=${words.length}; _posthorn; echo "\${COMPREPLY[@]}"`;
    });
    const printed = execFileSync("bash", ["-c", [out, ...calls].join("\n")], { encoding: "utf8" });
    expect(printed.trim().split("\n")).toEqual(cases.map(([, completions]) => completions.join(" ")));
  });

  test("zsh and fish are supported", async () => {
    expect((await posthorn`completion zsh`).out).toMatch(/^#compdef posthorn\n.*bashcompinit/s);
    const { out } = await posthorn`completion fish`;
    expect(out).toContain("__fish_seen_subcommand_from endpoints; and __fish_seen_subcommand_from enable");
    expect(out).toContain(
      "complete -c posthorn -n '__fish_seen_subcommand_from serve' -l role -x -a 'all api worker'",
    );
  });
});

test("the operations of the API are listed without a server and without a key", async () => {
  const run = posthorn({ env: { POSTHORN_DATA_DIR: "/nowhere" } });
  expect((await run`api`).out).toMatch(/endpoints\.rotateSecret +POST/);
  const names = (await run`api --json`).json.map(({ name }: { name: string }) => name);
  expect(names).toEqual(operationsOf().map(([name]) => name));
});

test("help and version succeed, and every command has help", async () => {
  expect(await posthorn`--help`).toMatchObject({ code: 0, err: "" });
  expect((await posthorn`--version`).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await posthorn`endpoints create --help`).out).toContain("--description <text>");
  expect((await posthorn`nonsense --json`).err).toContain('{"error":{"code":"usage"');
});
