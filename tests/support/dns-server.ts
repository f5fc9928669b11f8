// A name server on loopback that answers by script and remembers what it was asked.
import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";

export interface Zone {
  readonly A?: readonly string[];
  /** As 16 bytes in hexadecimal. */
  readonly AAAA?: readonly string[];
  /** Answered with the records of that name behind it. */
  readonly CNAME?: string;
  readonly failure?: "SERVFAIL" | "silent";
  /** Only this question gets no answer. */
  readonly silentFor?: "A" | "AAAA";
}

export interface DnsServer {
  /** `127.0.0.1:port` */
  readonly address: string;
  /** `A hooks.example.com`, in the order they came. */
  readonly questions: readonly string[];
  close(): Promise<void>;
}

const TYPES: Readonly<Record<number, "A" | "AAAA">> = { 1: "A", 28: "AAAA" };

/** Names that are not in `zones` do not exist. */
export async function startDnsServer(zones: Readonly<Record<string, Zone>>): Promise<DnsServer> {
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
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
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
