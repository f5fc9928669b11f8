import { once } from "node:events";
import { type ClientRequest, request } from "node:http";
import { Duplex } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ResponseParser, type ResponseSink } from "./response-parser.ts";

interface Parsed {
  readonly statusCode: number;
  readonly retryAfter: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The result of the last read, or the error code. */
  readonly end: string;
  readonly isReusable: boolean;
}

/** Reads a response in these chunks, and then the end of the connection if it is not complete. */
function parse(...chunks: (string | Buffer)[]): Parsed {
  const parser = new ResponseParser();
  let [statusCode, retryAfter, body]: [number, string | null, string] = [0, null, ""];
  const sink: ResponseSink = {
    headers: new Map(),
    onHead: (...head) => {
      [statusCode, retryAfter] = head;
    },
    onBody: (bytes, start, end) => {
      body += bytes.toString("latin1", start, end);
    },
  };
  parser.start(sink);
  let end: ReturnType<ResponseParser["read"]> | "closed" = "more";
  for (const chunk of chunks) {
    // Like a socket, which reads into the same memory again.
    const bytes = Buffer.alloc(chunk.length + 10, "\n");
    bytes.write(chunk.toString("latin1"), "latin1");
    end = parser.read(bytes, chunk.length);
    if (end !== "more") break;
  }
  if (end === "more") end = parser.end() ?? "closed";
  return {
    statusCode,
    retryAfter,
    headers: Object.fromEntries(sink.headers ?? []),
    body,
    end: typeof end === "string" ? end : end.error,
    isReusable: parser.isReusable,
  };
}

const ok = "HTTP/1.1 200 OK\r\n";
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;
const complete = { end: "complete", isReusable: true };
const last = { end: "complete", isReusable: false };
const noContent = "HTTP/1.1 204 No Content\r\n";
const empty = "content-length: 0\r\n\r\n";

describe("a response", () => {
  // that the body and other headers are read is compared with Node's parser below
  it.each<[what: string, text: string, parsed: Partial<Parsed>]>([
    ["with a length", `${ok}Content-Length: 2\r\n\r\nok`, { ...complete, body: "ok" }],
    ["in chunks", `${chunked}2\r\nok\r\n0A;a="b"\r\n0123456789\r\n0\r\n\r\n`, complete],
    ["with a trailer", `${chunked}1\r\nx\r\n0\r\nretry-after: 1\r\n\r\n`, { ...complete, retryAfter: null }],
    ["without a length", `${ok}\r\nbody`, { end: "closed", isReusable: false, body: "body" }],
    ["that closes", `${ok}Connection: Keep-Alive, CLOSE\r\n${empty}`, last],
    ["of HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx", last],
    ["with more than its length", `${ok}content-length: 1\r\n\r\nxy`, { ...last, body: "x" }],
    ["204 with a length of 0", `${noContent}${empty}`, complete],
    ["204 with a length", `${noContent}content-length: 5\r\n\r\n`, { ...last, body: "" }],
    ["204 in chunks", `${noContent}transfer-encoding: chunked\r\n\r\n`, { ...last, body: "" }],
    [
      "304 with a length",
      "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n",
      { ...complete, body: "" },
    ],
    [
      "after hints",
      `HTTP/1.1 103 X\r\nretry-after: 1\r\n\r\n${ok}${empty}`,
      { ...complete, retryAfter: null },
    ],
    ["with Retry-After", `${ok}Retry-AFTER:\t120 \r\n${empty}`, { ...complete, retryAfter: "120" }],
    ["with two", `${ok}retry-after: 1\r\nretry-after: 2\r\n${empty}`, { ...complete, retryAfter: null }],
    ["with an endless one", `${ok}retry-after: ${"9".repeat(200)}\r\n\r\n`, { retryAfter: "9".repeat(100) }],
    ["that ends in its body", `${ok}content-length: 3\r\n\r\nx`, { end: "connection_reset", body: "x" }],
    ["that ends in its head", `${ok}content-length: 3\r\n`, { end: "connection_reset", statusCode: 0 }],
  ])("%s is read the same in one chunk and split at every byte", (_what, text, parsed) => {
    const whole = parse(text);
    expect(whole).toMatchObject(parsed);
    for (let at = 1; at < text.length; at += 1)
      expect(parse(text.slice(0, at), text.slice(at))).toEqual(split(whole, at));
    expect(parse(...text)).toEqual(split(whole, text.length - 1));

    /** What follows a complete response is not read if it comes later. */
    function split(expected: Parsed, at: number): Parsed {
      return parsed.body === "x" && text.endsWith("xy") && at === text.length - 1
        ? { ...expected, isReusable: true }
        : expected;
    }
  });

  it.each([
    ["no CR in the status line", "HTTP/1.1 200 OK\ncontent-length: 0\r\n\r\n"],
    ["a CR within a line", `${ok}a: b\rc\r\n\r\n`],
    ["no CR in a header", `${ok}a: b\ncontent-length: 0\r\n\r\n`],
    ["an empty name", `${ok}: b\r\n\r\n`],
    ["no colon", `${ok}abc\r\n\r\n`],
    ["a space before the colon", `${ok}a : b\r\n\r\n`],
    ["a folded header", `${ok}a: b\r\n c\r\n\r\n`],
    ["a first header that begins with a blank", `${ok} a: b\r\n\r\n`],
    ["a control character", `${ok}a: \x01\r\n\r\n`],
    ["a DEL", `${ok}a: \x7f\r\n\r\n`],
    ["HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n"],
    ["a lower-case version", "http/1.1 200 OK\r\n\r\n"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
    ["a tab after the status", "HTTP/1.1 200\tOK\r\n\r\n"],
    ["a control character in the reason", "HTTP/1.1 200 O\0K\r\n\r\n"],
    ["an empty line at the beginning", `\r\n${ok}\r\n`],
    ["101", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["an empty length", `${ok}content-length:\r\n\r\n`],
    ["a signed length", `${ok}content-length: +1\r\n\r\n`],
    ["a length in hexadecimal", `${ok}content-length: 0x1\r\n\r\n`],
    ["a length beyond 2^53", `${ok}content-length: 99999999999999999999\r\n\r\n`],
    ["two lengths", `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\n`],
    ["the same length twice", `${ok}content-length: 1\r\ncontent-length: 1\r\n\r\n`],
    ["a length and chunks", `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`],
    ["chunks and a length", `${ok}transfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n`],
    ["chunks twice", `${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`],
    ["an unknown coding", `${ok}transfer-encoding: xchunked\r\n\r\n`],
    ["the coding identity", `${ok}transfer-encoding: identity\r\n\r\n`],
  ])("with %s is refused without a status", (_what, text) => {
    const refused = { statusCode: 0, end: "bad_response" };
    expect(parse(text)).toMatchObject(refused);
    expect(parse(...text)).toMatchObject(refused);
  });

  it.each([
    ["without a digit", "\r\n"],
    ["with a signed size", "+1\r\n"],
    ["with a space after the size", "1 \r\n"],
    ["with a size beyond 2^48", "1000000000000\r\n"],
    ["that is longer than its size", "1\r\nab\r\n"],
    ["with a control character in its extension", "1;\x01\r\n"],
    ["with an endless extension", `1;${"x".repeat(300)}`],
    ["whose lines end with LF", "1\nx\n0\n\n"],
    ["with an invalid trailer", "0\r\na b\r\n\r\n"],
  ])("with a chunk %s is refused after its status", (_what, chunks) => {
    const refused = { statusCode: 200, end: "bad_response" };
    expect(parse(chunked + chunks)).toMatchObject(refused);
    expect(parse(...(chunked + chunks))).toMatchObject(refused);
  });

  it.each([
    ["of one header", (bytes: number) => `${ok}a: ${"x".repeat(bytes - 1)}\r\n\r\n`],
    ["of many headers", (bytes: number) => `${ok}${"a:b\r\n".repeat(bytes)}\r\n`],
  ])("has at most 16 KB %s", (_what, headers) => {
    for (const read of [parse, (text: string) => parse(...text)]) {
      expect(read(headers(16_384))).toMatchObject({ statusCode: 200, end: "closed" });
      expect(read(headers(16_385))).toMatchObject({ statusCode: 0, end: "headers_too_large" });
    }
  });

  it("has at most 16 KB of trailers", () => {
    const trailers = `${chunked}0\r\n${"a:b\r\n".repeat(16_385)}\r\n`;
    expect(parse(trailers)).toMatchObject({ statusCode: 200, end: "headers_too_large" });
  });
});

// ── Node's parser ─────────────────────────────────────────────────────────────────────────────────────────

/** What Node's client reads from the same bytes. */
async function parseWithNode(bytes: Buffer): Promise<Pick<Parsed, "statusCode" | "headers" | "body">> {
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const sent: ClientRequest = request({ createConnection: () => socket as never, maxHeaderSize: 100_000 });
  sent.end();
  socket.push(bytes);
  socket.push(null);
  const [response] = await once(sent, "response");
  let body = "";
  for await (const chunk of response) body += chunk.toString("latin1");
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries<string[]>(response.headersDistinct))
    headers[name] = values.join(", ");
  return { statusCode: response.statusCode, headers, body };
}

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/).map((name) => `x-${name}`);
const value = fc.stringMatching(/^(?:[!-~\xa1-\xff](?:[\t -~\xa1-\xff]{0,20}[!-~\xa1-\xff])?)?$/);
const blank = fc.constantFrom("", " ", "\t", "  ");
const header = fc
  .tuple(token, blank, value, blank)
  .map(([name, before, text, after]) => `${name}:${before}${text}${after}\r\n`);
const bytes = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 60,
});
const body = fc.oneof(
  bytes.map((text) => `content-length: ${text.length}\r\n\r\n${text}`),
  bytes.map((text) => `\r\n${text}`),
  fc
    .tuple(
      fc.array(bytes.filter((text) => text !== "")),
      fc.constantFrom("", ";a", ';a="b c"'),
      fc.array(header, { maxLength: 2 }),
    )
    .map(([texts, extension, trailers]) => {
      const chunks = texts.map((text) => `${text.length.toString(16)}${extension}\r\n${text}\r\n`);
      return `Transfer-Encoding: Chunked\r\n\r\n${chunks.join("")}0\r\n${trailers.join("")}\r\n`;
    }),
);
const response = fc
  .tuple(
    fc.array(fc.constantFrom("HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 X\r\nlink: a\r\n\r\n"), {
      maxLength: 3,
    }),
    fc.constantFrom("1.0", "1.1"),
    fc.integer({ min: 200, max: 599 }),
    fc.constantFrom("", " ", " OK", " Caf\xe9 \t!"),
    fc.array(header, { maxLength: 8 }),
    body,
  )
  .map(([informational, version, status, reason, headers, rest]) => {
    const head = `${informational.join("")}HTTP/${version} ${status}${reason}\r\n${headers.join("")}`;
    return Buffer.from(`${head}${status === 204 || status === 304 ? "\r\n" : rest}`, "latin1");
  });

it("reads every valid response as Node does, however it is split", async () => {
  const cuts = fc.array(fc.nat(), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(response, cuts, async (text, places) => {
      const sorted = [0, ...places.map((place) => place % text.length), text.length].sort((a, b) => a - b);
      const chunks = sorted.slice(1).map((end, index) => text.subarray(sorted[index], end));
      const { statusCode, headers, body, end } = parse(...chunks);
      expect({ statusCode, headers, body }).toEqual(await parseWithNode(text));
      expect(["complete", "closed"]).toContain(end);
    }),
  );
});

it("reads any bytes without an exception, and the same however they are split", () => {
  const words = ["HTTP/1.1 ", "200 OK", "content-length: ", "transfer-encoding: chunked"];
  const pieces = fc.constantFrom(...words, "\r\n", "\n", "1", "0", ":", "\0", " ");
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, bytes), { maxLength: 12 }), (list) => {
      const text = list.join("");
      const { isReusable: _whole, ...whole } = parse(text);
      const { isReusable: _split, ...split } = parse(...text);
      expect(split).toEqual(whole);
    }),
  );
});
