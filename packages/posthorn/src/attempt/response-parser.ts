// Parses HTTP/1.x responses (RFC 9112) from bytes in chunks of any size, without a copy unless a line is split. Strict:
// a response whose end is ambiguous is an error, because the rest would be mistaken for the next response.
import type { ErrorClass } from "./classify-error.ts";

/** Receives one response. */
export interface ResponseSink {
  /** Null discards the headers; otherwise they are added by lower-case name. */
  readonly headers: Map<string, string> | null;
  onHead(statusCode: number, retryAfter: string | null): void;
  /** `bytes` is overwritten by the next read. */
  onBody(bytes: Buffer, start: number, end: number): void;
}

/** Limit for the names and values of the headers of one response, together. */
export const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CHUNK_LINE_BYTES = 256;
const MAX_INFORMATIONAL = 32;
const MAX_RETRY_AFTER_LENGTH = 100;

const STATUS_LINE = 0;
const HEADER_LINE = 1;
const BODY = 2;
const UNTIL_CLOSE = 3;
const CHUNK_SIZE = 4;
const CHUNK = 5;
const CHUNK_END = 6;
const TRAILER = 7;
const COMPLETE = 8;

export class ResponseParser {
  #sink: ResponseSink | null = null;
  #state = STATUS_LINE;
  /** The beginning of a line whose end was not read yet. */
  #partial: Buffer = NOTHING;
  #partialLength = 0;
  #statusCode = 0;
  #informational = 0;
  #headerBytes = 0;
  /** Bytes of the body, or of its current chunk, that are still to come. -1: no Content-Length. */
  #remaining = -1;
  #isChunked = false;
  #isReusable = true;
  #keepAliveSeconds: number | null = null;
  #retryAfter: string | null = null;
  #retryAfters = 0;

  /** True after a complete response if the connection can be used again. */
  get isReusable(): boolean {
    return this.#isReusable;
  }

  /** The receiver's hint for how long it keeps an idle connection open; null without one. */
  get keepAliveSeconds(): number | null {
    return this.#keepAliveSeconds;
  }

  /** Begins the response to the next request. */
  start(sink: ResponseSink): void {
    this.#sink = sink;
    this.#informational = 0;
    this.#partialLength = 0;
    this.#startHead();
  }

  #startHead(): void {
    this.#state = STATUS_LINE;
    this.#headerBytes = 0;
    this.#remaining = -1;
    this.#isChunked = false;
    this.#isReusable = true;
    this.#keepAliveSeconds = null;
    this.#retryAfter = null;
    this.#retryAfters = 0;
    this.#sink?.headers?.clear();
  }

  /** Reads the first `length` bytes. After "complete" or an error, call `start` before the next read. */
  read(bytes: Buffer, length: number): "more" | "complete" | ErrorClass {
    let at = 0;
    while (at < length) {
      const state = this.#state;
      if (state === BODY || state === CHUNK) {
        at = this.#readBody(bytes, at, length);
      } else if (state === UNTIL_CLOSE) {
        this.#sink?.onBody(bytes, at, length);
        return "more";
      } else {
        const lf = lineFeed(bytes, at, length);
        if (lf === -1) return this.#keepPartial(bytes, at, length) ?? "more";
        const problem = this.#readLineTo(bytes, at, lf);
        if (problem !== null) return problem;
        at = lf + 1;
      }
      if (this.#state === COMPLETE) {
        // No request is in flight that these bytes could be the response to.
        if (at < length) this.#isReusable = false;
        // An idle connection keeps neither the request nor what was captured of its response.
        this.#sink = null;
        return "complete";
      }
    }
    return "more";
  }

  /** The peer ended the connection. Returns null if that completes the response. */
  end(): ErrorClass | null {
    return this.#state === UNTIL_CLOSE ? null : CLOSED_EARLY;
  }

  #readBody(bytes: Buffer, at: number, length: number): number {
    const end = Math.min(length, at + this.#remaining);
    this.#sink?.onBody(bytes, at, end);
    this.#remaining -= end - at;
    if (this.#remaining === 0) this.#state = this.#state === CHUNK ? CHUNK_END : COMPLETE;
    return end;
  }

  #keepPartial(bytes: Buffer, at: number, end: number): ErrorClass | null {
    const length = this.#partialLength + end - at;
    if (length > MAX_PARTIAL_BYTES) return HEADERS_TOO_LARGE;
    if (length > this.#partial.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#partial.length));
      this.#partial.copy(larger, 0, 0, this.#partialLength);
      this.#partial = larger;
    }
    bytes.copy(this.#partial, this.#partialLength, at, end);
    this.#partialLength = length;
    if (this.#state === STATUS_LINE && !startsAsHttp(this.#partial, 0, length)) return NOT_HTTP;
    if (this.#state === CHUNK_SIZE && length > MAX_CHUNK_LINE_BYTES) return BAD_CHUNK;
    return null;
  }

  #readLineTo(bytes: Buffer, at: number, lf: number): ErrorClass | null {
    if (this.#partialLength === 0) return this.#readLine(bytes, at, lf);
    const problem = this.#keepPartial(bytes, at, lf);
    if (problem !== null) return problem;
    const line = this.#partial;
    const length = this.#partialLength;
    this.#partial = NOTHING;
    this.#partialLength = 0;
    return this.#readLine(line, 0, length);
  }

  #readLine(bytes: Buffer, at: number, lf: number): ErrorClass | null {
    const end = lf - 1;
    if (end < at || bytes[end] !== CR) return this.#state === STATUS_LINE ? NOT_HTTP : BAD_LINE;
    switch (this.#state) {
      case STATUS_LINE:
        return this.#readStatusLine(bytes, at, end);
      case HEADER_LINE:
        return at === end ? this.#endHead() : this.#readHeader(bytes, at, end);
      case CHUNK_SIZE:
        return this.#readChunkSize(bytes, at, end);
      case CHUNK_END:
        if (at !== end) return BAD_CHUNK;
        this.#state = CHUNK_SIZE;
        return null;
      default:
        if (at !== end) return this.#readTrailer(bytes, at, end);
        this.#state = COMPLETE;
        return null;
    }
  }

  /** Reads "HTTP/1.1 200 OK"; the space after the status may be missing. */
  #readStatusLine(bytes: Buffer, at: number, end: number): ErrorClass | null {
    if (end - at > MAX_HEADER_BYTES) return HEADERS_TOO_LARGE;
    if (end - at < 12 || !startsAsHttp(bytes, at, end) || bytes[at + 8] !== SPACE) return NOT_HTTP;
    const minor = (bytes[at + 7] as number) - ZERO;
    const statusCode = decimal(bytes, at + 9, at + 12);
    if (minor < 0 || minor > 1 || statusCode < 100) return NOT_HTTP;
    if (end > at + 12 && (bytes[at + 12] !== SPACE || !isText(bytes, at + 12, end))) return NOT_HTTP;
    this.#statusCode = statusCode;
    // HTTP/1.0 closes the connection unless both sides agree on something else.
    this.#isReusable = minor === 1;
    this.#state = HEADER_LINE;
    return null;
  }

  #readHeader(bytes: Buffer, at: number, end: number): ErrorClass | null {
    const colon = this.#countHeader(bytes, at, end);
    if (colon < 0) return colon === TOO_LARGE ? HEADERS_TOO_LARGE : BAD_HEADER;
    let from = colon + 1;
    let to = end;
    while (from < to && isBlank(bytes[from] as number)) from += 1;
    while (to > from && isBlank(bytes[to - 1] as number)) to -= 1;
    const headers = this.#sink?.headers ?? null;
    if (headers !== null) addHeader(headers, bytes, at, colon, from, to);
    switch (colon - at) {
      case 10:
        if (isName(bytes, at, CONNECTION)) this.#readConnection(bytes, from, to);
        else if (isName(bytes, at, KEEP_ALIVE)) this.#keepAliveSeconds = keepAliveSeconds(bytes, from, to);
        return null;
      case 11:
        if (isName(bytes, at, RETRY_AFTER)) this.#readRetryAfter(bytes, from, to);
        return null;
      case 14:
        return isName(bytes, at, CONTENT_LENGTH) ? this.#readContentLength(bytes, from, to) : null;
      case 17:
        return isName(bytes, at, TRANSFER_ENCODING) ? this.#readTransferEncoding(bytes, from, to) : null;
      default:
        return null;
    }
  }

  /** Checks and counts a header, and returns the position of its colon, or a negative number. */
  #countHeader(bytes: Buffer, at: number, end: number): number {
    // The usual ": " is not counted.
    this.#headerBytes += Math.max(1, end - at - 2);
    if (this.#headerBytes > MAX_HEADER_BYTES) return TOO_LARGE;
    let colon = at;
    while (TOKEN[bytes[colon] as number] === 1) colon += 1;
    // A folded header begins with a blank, which is not a token character either.
    if (colon === at || bytes[colon] !== COLON || !isText(bytes, colon + 1, end)) return INVALID;
    return colon;
  }

  #readConnection(bytes: Buffer, from: number, to: number): void {
    if (to - from === KEEP_ALIVE.length && isName(bytes, from, KEEP_ALIVE)) return;
    const options = bytes.toString("latin1", from, to).toLowerCase().split(",");
    if (options.some((option) => option.trim() === "close")) this.#isReusable = false;
  }

  /** Ignores repeated values, because they contradict each other. */
  #readRetryAfter(bytes: Buffer, from: number, to: number): void {
    this.#retryAfters += 1;
    const end = Math.min(to, from + MAX_RETRY_AFTER_LENGTH);
    this.#retryAfter = this.#retryAfters > 1 ? null : bytes.toString("latin1", from, end);
  }

  /** Rejects a second length even if it is the same (RFC 9110 §8.6). */
  #readContentLength(bytes: Buffer, from: number, to: number): ErrorClass | null {
    if (this.#remaining !== -1 || this.#isChunked) return BAD_LENGTH;
    this.#remaining = to - from > MAX_LENGTH_DIGITS ? -1 : decimal(bytes, from, to);
    return this.#remaining === -1 ? BAD_LENGTH : null;
  }

  /** Accepts only `chunked`: no other coding was offered. With a length as well, the end is ambiguous (RFC 9112 §6.3). */
  #readTransferEncoding(bytes: Buffer, from: number, to: number): ErrorClass | null {
    const isChunked = to - from === CHUNKED.length && isName(bytes, from, CHUNKED);
    if (!isChunked || this.#isChunked || this.#remaining !== -1) return BAD_LENGTH;
    this.#isChunked = true;
    return null;
  }

  #endHead(): ErrorClass | null {
    const statusCode = this.#statusCode;
    if (statusCode < 200) return this.#endInformational();
    this.#sink?.onHead(statusCode, this.#retryAfter);
    if (statusCode === 204 || statusCode === 304) this.#endWithoutBody();
    else if (this.#isChunked) this.#startChunks();
    else if (this.#remaining > 0) this.#state = BODY;
    else if (this.#remaining === 0) this.#state = COMPLETE;
    else {
      this.#state = UNTIL_CLOSE;
      this.#isReusable = false;
    }
    return null;
  }

  /** A 204 that announces a body may be followed by one, which would be mistaken for the next response. */
  #endWithoutBody(): void {
    if (this.#statusCode === 204 && (this.#isChunked || this.#remaining > 0)) this.#isReusable = false;
    this.#state = COMPLETE;
  }

  #endInformational(): ErrorClass | null {
    if (this.#statusCode === 101) return SWITCHED;
    this.#informational += 1;
    if (this.#informational > MAX_INFORMATIONAL) return TOO_MANY_INFORMATIONAL;
    this.#startHead();
    return null;
  }

  #startChunks(): void {
    this.#headerBytes = 0;
    this.#state = CHUNK_SIZE;
  }

  /** Reads "1f" or "1f;extension". */
  #readChunkSize(bytes: Buffer, at: number, end: number): ErrorClass | null {
    if (end - at > MAX_CHUNK_LINE_BYTES) return BAD_CHUNK;
    let size = 0;
    let digits = at;
    while (digits < end) {
      const digit = HEX[bytes[digits] as number] as number;
      if (digit === NO_DIGIT) break;
      size = size * 16 + digit;
      digits += 1;
    }
    if (digits === at || digits - at > MAX_SIZE_DIGITS) return BAD_CHUNK;
    if (digits < end && (bytes[digits] !== SEMICOLON || !isText(bytes, digits, end))) return BAD_CHUNK;
    this.#remaining = size;
    this.#state = size === 0 ? TRAILER : CHUNK;
    return null;
  }

  #readTrailer(bytes: Buffer, at: number, end: number): ErrorClass | null {
    const colon = this.#countHeader(bytes, at, end);
    if (colon >= 0) return null;
    return colon === TOO_LARGE ? HEADERS_TOO_LARGE : BAD_HEADER;
  }
}

function lineFeed(bytes: Buffer, at: number, end: number): number {
  for (let index = at; index < end; index += 1) if (bytes[index] === LF) return index;
  return -1;
}

/** Returns true while the bytes can become a status line. */
function startsAsHttp(bytes: Buffer, at: number, end: number): boolean {
  const length = Math.min(end - at, HTTP_1.length);
  for (let index = 0; index < length; index += 1) if (bytes[at + index] !== HTTP_1[index]) return false;
  return true;
}

/** Returns -1 unless there are bytes and all of them are digits. */
function decimal(bytes: Buffer, from: number, to: number): number {
  let value = from < to ? 0 : -1;
  for (let index = from; index < to; index += 1) {
    const digit = (bytes[index] as number) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function isText(bytes: Buffer, from: number, to: number): boolean {
  for (let index = from; index < to; index += 1) if (TEXT[bytes[index] as number] === 0) return false;
  return true;
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

/** Compares with a lower-case name of the same length. Control characters, which could match "-", were rejected before. */
function isName(bytes: Buffer, at: number, name: Buffer): boolean {
  for (let index = 0; index < name.length; index += 1)
    if (((bytes[at + index] as number) | 0x20) !== name[index]) return false;
  return true;
}

function keepAliveSeconds(bytes: Buffer, from: number, to: number): number | null {
  const [, seconds] = /timeout=(\d{1,9})/i.exec(bytes.toString("latin1", from, to)) ?? [];
  return seconds === undefined ? null : Number(seconds);
}

function addHeader(
  headers: Map<string, string>,
  bytes: Buffer,
  at: number,
  colon: number,
  from: number,
  to: number,
): void {
  const name = bytes.toString("latin1", at, colon).toLowerCase();
  const value = bytes.toString("latin1", from, to);
  const earlier = headers.get(name);
  headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
}

const NOTHING = Buffer.alloc(0);
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const ZERO = 0x30;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const HTTP_1 = Buffer.from("HTTP/1.");
const CONNECTION = Buffer.from("connection");
const KEEP_ALIVE = Buffer.from("keep-alive");
const RETRY_AFTER = Buffer.from("retry-after");
const CONTENT_LENGTH = Buffer.from("content-length");
const TRANSFER_ENCODING = Buffer.from("transfer-encoding");
const CHUNKED = Buffer.from("chunked");

/** Characters of a header name (RFC 9110 §5.6.2). */
const TOKEN = tableOf(/[!#$%&'*+\-.^_`|~0-9A-Za-z]/);
/** Characters of a header value or a reason phrase: no control characters but the tab. */
const TEXT = tableOf(/[\t\x20-\x7e\x80-\xff]/);
const NO_DIGIT = 255;
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => {
  const digit = "0123456789abcdef".indexOf(String.fromCharCode(byte).toLowerCase());
  return digit === -1 ? NO_DIGIT : digit;
});

function tableOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (characters.test(String.fromCharCode(byte)) ? 1 : 0));
}

/** Far below 2^53. */
const MAX_LENGTH_DIGITS = 15;
const MAX_SIZE_DIGITS = 12;
/** The longest line, with its ": " and CR. */
const MAX_PARTIAL_BYTES = MAX_HEADER_BYTES + 3;
const INVALID = -1;
const TOO_LARGE = -2;

const NOT_HTTP: ErrorClass = { error: "bad_response", detail: "not an HTTP/1.1 response" };
const BAD_LINE: ErrorClass = { error: "bad_response", detail: "a line does not end with CRLF" };
const BAD_HEADER: ErrorClass = { error: "bad_response", detail: "invalid response header" };
const BAD_LENGTH: ErrorClass = { error: "bad_response", detail: "the length of the response is ambiguous" };
const BAD_CHUNK: ErrorClass = { error: "bad_response", detail: "invalid chunk in the response body" };
const SWITCHED: ErrorClass = {
  error: "bad_response",
  detail: "101 Switching Protocols without a request for it",
};
const TOO_MANY_INFORMATIONAL: ErrorClass = { error: "bad_response", detail: "too many 1xx responses" };
const HEADERS_TOO_LARGE: ErrorClass = {
  error: "headers_too_large",
  detail: "more than 16 KB of response headers",
};
const CLOSED_EARLY: ErrorClass = { error: "connection_reset", detail: "connection closed before a response" };
