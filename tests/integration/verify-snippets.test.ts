// Runs the snippets of delivery contracts, for every scheme and in every installed language, on requests of a real server,
// and on requests that must be rejected.
import {
  generateSecret,
  generateSigningKey,
  type Scheme,
  type SignedMessage,
  schemeNamed,
  schemeNames,
  sign,
  writeTime,
} from "@posthorn/wire";
import { startScriptedReceiver } from "posthorn/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signRequest } from "../../packages/posthorn/src/destinations/webhook/sign.ts";
import { rotate } from "../support/matrix.ts";
import { sharedServer } from "../support/servers/start-server.ts";
import {
  missingProgram,
  runtimes,
  type SignedRequest,
  type SnippetSource,
  verifyIn,
} from "../support/snippet-runtimes.ts";

const SCHEMES = [...schemeNames, "sha256:sha256_v2", "two-headers:v1"];

/** Secrets of another sender: their characters or the bytes that they encode are the key. */
const IMPORTED = {
  text: "Ein Satz als Schlüssel",
  base64: Buffer.alloc(32, 0xfe).toString("base64"),
  hex: Buffer.alloc(32, 0xfe).toString("hex"),
};

interface Case extends SignedRequest {
  readonly what: string;
  readonly expected: boolean;
}

const server = sharedServer({ posthorn: { maxEndpointsPerTenant: 100 } });
const receiver = await startScriptedReceiver();
afterAll(() => receiver.close());
const snippets = new Map<string, SnippetSource[]>();
const secrets = new Map<string, string>();
const importedNames: string[] = [];

beforeAll(async () => {
  await server.newTenant({}, "acme");
  for (const scheme of SCHEMES) {
    const { path, secret } = await server.newEndpoint(
      { url: `${receiver.url}/${scheme}?a=1`, signature: { schemes: [scheme], header_prefix: "X-Shop" } },
      "acme",
    );
    secrets.set(scheme, secret);
    const { json } = await server.call("GET", `${path}/contract`);
    const [{ facts, snippets: sources }] = json.signatures;
    for (const { language, code } of sources) {
      const known = snippets.get(language) ?? [];
      snippets.set(language, [...known, { scheme, code, needsUrl: needsUrl(facts) }]);
    }
  }
  for (const scheme of ["t-v1", "sha256", "standard-webhooks", "shopify", "rfc9421"]) {
    for (const [encoding, secret] of Object.entries(IMPORTED)) {
      const name = `${scheme}-${encoding}`;
      const { path } = await server.newEndpoint(
        {
          url: `${receiver.url}/${name}?a=1`,
          signature: { schemes: [scheme], header_prefix: "X-Shop" },
          secret,
          secret_encoding: encoding,
        },
        "acme",
      );
      secrets.set(name, secret);
      importedNames.push(name);
      const { json } = await server.call("GET", `${path}/contract?secret_encoding=${encoding}`);
      const [{ facts, snippets: sources }] = json.signatures;
      expect(facts?.key ?? encoding).toBe(encoding);
      for (const { language, code } of sources)
        snippets.get(language)?.push({ scheme: name, code, needsUrl: needsUrl(facts) });
    }
  }
});

/** Sends requests, and varies them. Signatures are valid for five minutes, so every language gets its own. */
async function newCases(): Promise<Case[]> {
  const cases: Case[] = [];
  const before = receiver.requests.length;
  const data = { note: "Grüße €", "Buffer.from": '\\"' };
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data });
  const requests = await receiver.received(before + SCHEMES.length + importedNames.length);
  for (const { url, headers, body } of requests.slice(before)) {
    const scheme = url.slice(1, url.indexOf("?"));
    const sent = {
      scheme,
      headers: headers as Readonly<Record<string, string>>,
      body,
      secret: secrets.get(scheme) as string,
      url: receiver.url + url,
    };
    if (importedNames.includes(scheme)) {
      const other = sent.secret.replace(/^./, (first) => (first === "a" ? "b" : "a"));
      cases.push({ what: "as it was sent", ...sent, expected: true });
      cases.push({ what: "with another secret", ...sent, secret: other, expected: false });
    } else cases.push(...(await casesOf(sent)));
  }
  return cases;
}

/** HTTP Message Signatures, which have no facts, always cover the URL. */
function needsUrl(facts: { readonly signed: readonly string[] } | null): boolean {
  return facts?.signed.includes("{url}") ?? true;
}

/** What was sent, and what an attacker or a wrong configuration would send. */
async function casesOf(sent: SignedRequest): Promise<Case[]> {
  const scheme = schemeNamed(sent.scheme);
  const { algorithm, format, key, headers: names } = scheme;
  const isMessage = scheme.isMessageSignature === true;
  const secret = key === "ed25519" ? publicKeyOf(sent.secret) : sent.secret;
  const request = { ...sent, secret };
  const header = names.signature({ signature: "X-Shop-Signature" } as never).toLowerCase();
  const given = request.headers[header] as string;
  const withHeader = (value: string) => ({ ...request, headers: { ...request.headers, [header]: value } });
  const isTimed = names.timestamp !== undefined || format.write(["A"], "T").includes("T");
  const signedAgo = async (seconds: number, secrets = [sent.secret]) => {
    const timestamp = writeTime(new Date(Date.now() - seconds * 1_000), scheme.timeFormat ?? "seconds");
    const id = request.headers[names.id?.({} as never) ?? ""] ?? "";
    const message = { id, timestamp, body: request.body, method: "POST", url: request.url };
    const signed = isMessage
      ? signedAsMessage(scheme, request.headers, message, secrets)
      : await sign({ ...message, schemes: [scheme], secrets, headerPrefix: "X-Shop" });
    const lower = Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]);
    return { ...request, headers: { ...request.headers, ...Object.fromEntries(lower) } };
  };
  const otherKey = {
    text: `${secret}x`,
    base64: "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=",
    ed25519: "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
  }[key];
  const all = [
    { what: "as it was sent", ...request, expected: true },
    { what: "without headers", ...request, headers: {}, expected: false },
    { what: "with nonsense", ...withHeader("=,v1,t= v1a,;"), expected: false },
    { what: "with another secret", ...request, secret: otherKey, expected: false },
    algorithm !== "token" && {
      what: "with another body",
      ...request,
      body: Buffer.concat([request.body, Buffer.from(" ")]),
      expected: false,
    },
    format.holdsMany && {
      what: "with the signature of another secret too",
      ...withHeader(format.write(["AAAA", given.replace(/.*(?:v1a?|h1)[=,]/, "")], timestampIn(given))),
      expected: true,
    },
    isMessage && {
      what: "signed with two secrets",
      ...(await signedAgo(0, [await otherSecretFor(scheme), sent.secret])),
      expected: true,
    },
    isMessage && {
      what: "for another URL",
      ...request,
      url: `${request.url}2`,
      expected: false,
    },
    // checking all of them takes minutes on a slow machine
    isTimed && { what: "signed a minute ago", ...(await signedAgo(60)), expected: true },
    isTimed && { what: "signed 301 seconds ago", ...(await signedAgo(301)), expected: false },
    isTimed && { what: "signed for the future", ...(await signedAgo(-3_600)), expected: false },
  ];
  return all.filter((one) => one !== false);
}

function signedAsMessage(
  { name }: Scheme,
  sent: SignedRequest["headers"],
  message: SignedMessage,
  shared: readonly string[],
): Record<string, string> {
  const headers = { "content-type": sent["content-type"] as string };
  const settings = { schemes: [name], headerPrefix: "X-Shop" };
  signRequest(headers, settings, message, { shared, ofScheme: null }, new Date());
  return headers;
}

async function otherSecretFor({ key }: Scheme): Promise<string> {
  return key === "ed25519" ? (await generateSigningKey()).signingKey : generateSecret();
}

function timestampIn(header: string): string {
  return /^ts?=(\d+)/.exec(header)?.[1] ?? "";
}

/** `whsk_` has seed and public key. */
function publicKeyOf(signingKey: string): string {
  return `whpk_${Buffer.from(signingKey.slice("whsk_".length), "base64").subarray(32).toString("base64")}`;
}

test("every scheme has a snippet in every language", async () => {
  expect([...snippets.keys()].toSorted()).toEqual(Object.keys(runtimes).toSorted());
  for (const sources of snippets.values())
    expect(sources.map(({ scheme }) => scheme)).toEqual([...SCHEMES, ...importedNames]);
  expect((await newCases()).filter(({ what }) => what === "as it was sent")).toHaveLength(
    SCHEMES.length + importedNames.length,
  );
});

test.for(rotate(Object.keys(runtimes), 0))(
  "the %s snippets accept what was sent and reject everything else",
  async (language, { skip }) => {
    const missing = missingProgram(language);
    skip(missing !== null, missing ?? "");
    const cases = await newCases();
    const results = verifyIn(language, snippets.get(language) as SnippetSource[], cases);
    expect(cases.map(({ scheme, what }, index) => `${scheme} ${what}: ${results[index]}`)).toEqual(
      cases.map(({ scheme, what, expected }) => `${scheme} ${what}: ${expected}`),
    );
  },
);
