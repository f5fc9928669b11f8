import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { BlockedAddressError } from "../classify-error.ts";
import { CheckedNames } from "./checked-names.ts";
import { PUBLIC_ONLY } from "./guard-address.ts";
import { privateNamesToo, type Resolve, resolveByDns, resolveBySystem } from "./resolve-name.ts";

// Only queries a name server on loopback; its addresses are never dialled.
const NAME = "hooks.example.com";
const GLOBAL_IPV6 = `2600${"0".repeat(27)}1`;
const MAPPED_PRIVATE = `${"0".repeat(20)}ffff0a000005`;

function ask(server: DnsServer, hostname = NAME): Promise<unknown> {
  return resolveByDns([server.address])(hostname, new AbortController().signal, null);
}

function check(server: DnsServer, hostname = NAME): Promise<unknown> {
  const resolve = resolveByDns([server.address]);
  return new CheckedNames({ policy: PUBLIC_ONLY, resolve, now: () => 0 }).addressesOf(null, hostname);
}

describe("a name in DNS", () => {
  it.each<[what: string, zone: Zone, answer: object[]]>([
    [
      "its IPv4 addresses first, then its IPv6 addresses",
      { A: ["8.8.8.8", "8.8.4.4"], AAAA: [GLOBAL_IPV6] },
      [
        { address: "8.8.8.8", family: 4 },
        { address: "8.8.4.4", family: 4 },
        { address: "2600::1", family: 6 },
      ],
    ],
    ["IPv4 addresses only", { A: ["8.8.8.8"] }, [{ address: "8.8.8.8", family: 4 }]],
    ["IPv6 addresses only", { AAAA: [GLOBAL_IPV6] }, [{ address: "2600::1", family: 6 }]],
  ])("may have %s", async (_what, zone, answer) => {
    expect(await ask(await startDnsServer({ [NAME]: zone }))).toEqual(answer);
  });

  it("is looked up without the search domains of the machine", async () => {
    const server = await startDnsServer({});
    await expect(ask(server)).rejects.toMatchObject({ code: "ENOTFOUND" });
    expect([...new Set(server.questions)].toSorted()).toEqual([`A ${NAME}`, `AAAA ${NAME}`]);
  });

  it.each<[string, Zone, string]>([
    ["it has no address", {}, "ENODATA"],
    ["its server fails", { failure: "SERVFAIL" }, "ESERVFAIL"],
  ])("is an error when %s", async (_what, zone, code) => {
    await expect(ask(await startDnsServer({ [NAME]: zone }))).rejects.toMatchObject({ code });
  });

  it("does not wait until a lookup times out if its server responds for IPv4 only", async () => {
    const server = await startDnsServer({
      [NAME]: { A: ["8.8.8.8"], silentFor: "AAAA" },
      "silent.com": { failure: "silent" },
    });
    const silent = ask(server, "silent.com").catch(() => "timed out");
    const answered = ask(server).then(() => "answered");
    expect(await Promise.race([silent, answered])).toBe("answered");
    expect(await ask(server)).toEqual([{ address: "8.8.8.8", family: 4 }]);
    await silent;
  });

  it("can be aborted, and delays no other lookup", async () => {
    const server = await startDnsServer({
      "slow.com": { failure: "silent" },
      "quick.com": { A: ["8.8.8.8"] },
    });
    const resolve = resolveByDns([server.address]);
    const stops = Array.from({ length: 20 }, () => new AbortController());
    const slow = stops.map(({ signal }) => resolve("slow.com", signal, null));
    expect(await resolve("quick.com", new AbortController().signal, null)).toHaveLength(1);
    for (const stop of stops) stop.abort();
    for (const { status } of await Promise.allSettled(slow)) expect(status).toBe("rejected");
  });

  it("is allowed as an alias of a public name, and blocked as an alias of a private one", async () => {
    const server = await startDnsServer({
      [NAME]: { CNAME: "lb.example.com" },
      "lb.example.com": { A: ["8.8.8.8"] },
      "alias.example.com": { CNAME: "inside.example.com" },
      "inside.example.com": { AAAA: [MAPPED_PRIVATE] },
    });
    expect(await check(server)).toEqual([{ address: "8.8.8.8", family: 4 }]);
    await expect(check(server, "alias.example.com")).rejects.toBeInstanceOf(BlockedAddressError);
  });
});

describe("if the operator allowed private ranges", () => {
  function failing(code: string): Resolve {
    return () => Promise.reject(Object.assign(new Error(code), { code }));
  }

  const bySystem: Resolve = async () => [{ address: "10.0.0.5", family: 4 }];
  const byDns: Resolve = async () => [{ address: "8.8.8.8", family: 4 }];

  async function answered(hostname: string, dnsAnswer: Resolve): Promise<string | undefined> {
    const answer = await privateNamesToo(dnsAnswer, bySystem)(hostname, new AbortController().signal, null);
    return answer[0]?.address;
  }

  it.each(["receiver", "localhost", "api.localhost"])(
    "the system resolver is used for %s",
    async (hostname) => {
      expect(await answered(hostname, byDns)).toBe("10.0.0.5");
    },
  );

  it("the system resolver is used only for names that DNS does not know", async () => {
    expect(await answered(NAME, byDns)).toBe("8.8.8.8");
    for (const code of ["ENOTFOUND", "ENODATA", "ECONNREFUSED"]) {
      expect(await answered(NAME, failing(code)), code).toBe("10.0.0.5");
    }
    for (const code of ["ETIMEOUT", "ESERVFAIL", "ECANCELLED"]) {
      await expect(answered(NAME, failing(code)), code).rejects.toMatchObject({ code });
    }
  });

  it("the system resolver runs two lookups at a time, one per tenant", async () => {
    const asked: string[] = [];
    const resolve = resolveBySystem(((hostname: string) => {
      asked.push(hostname);
      return new Promise(() => {});
    }) as never);
    const { signal } = new AbortController();
    for (const [hostname, tenant] of [
      ["a", "acme"],
      ["b", "acme"],
      ["c", "other"],
      ["d", "third"],
    ] as const)
      void resolve(hostname, signal, tenant);
    await new Promise(setImmediate);
    expect(asked).toEqual(["a", "c"]);
  });
});

type DnsServer = Awaited<ReturnType<typeof startDnsServer>>;

interface Zone {
  readonly A?: readonly string[];
  /** As 16 bytes in hexadecimal. */
  readonly AAAA?: readonly string[];
  /** The response has the records of that name too. */
  readonly CNAME?: string;
  readonly failure?: "SERVFAIL" | "silent";
  /** Only this question gets no response. */
  readonly silentFor?: "A" | "AAAA";
}

const TYPES: Readonly<Record<number, "A" | "AAAA">> = { 1: "A", 28: "AAAA" };

/** Starts a name server on loopback. Names that are not in `zones` do not exist. */
async function startDnsServer(zones: Readonly<Record<string, Zone>>) {
  const socket = createSocket("udp4");
  const questions: string[] = [];
  socket.on("message", (message: Buffer, from: RemoteInfo) => {
    const { name, type, end } = readQuestion(message);
    questions.push(`${type} ${name}`);
    const zone = zones[name];
    if (zone?.failure === "silent" || zone?.silentFor === type) return;
    socket.send(reply(message.subarray(0, end), name, type, zones), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, questions };
}

/** RFC 1035 §4.1.2: labels with their lengths, a zero, type and class. */
function readQuestion(message: Buffer): { name: string; type: "A" | "AAAA"; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), type: TYPES[message.readUInt16BE(at + 1)] ?? "A", end: at + 5 };
}

function reply(
  question: Buffer,
  name: string,
  type: "A" | "AAAA",
  zones: Readonly<Record<string, Zone>>,
): Buffer {
  const zone = zones[name];
  const records: Buffer[] = [];
  if (zone?.CNAME !== undefined) records.push(record(name, 5, encodeName(zone.CNAME)));
  const owner = zone?.CNAME ?? name;
  for (const ip of zones[owner]?.A ?? [])
    if (type === "A") records.push(record(owner, 1, Buffer.from(ip.split(".").map(Number))));
  for (const hex of zones[owner]?.AAAA ?? [])
    if (type === "AAAA") records.push(record(owner, 28, Buffer.from(hex, "hex")));
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | (zone === undefined ? 3 : zone.failure === "SERVFAIL" ? 2 : 0), 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...records]);
}

function record(owner: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(60, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(owner), fixed, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...labels, Buffer.alloc(1)]);
}
