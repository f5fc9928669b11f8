// Parses a pasted request: raw HTTP, curl -v output, or a curl command.

export interface PastedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly method: string;
  /** The request URL; undefined if the text does not contain it. */
  readonly url: string | undefined;
}

/** Returns null if no header is found. */
export function readPastedRequest(text: string): PastedRequest | null {
  const trimmed = text.replaceAll("\r\n", "\n").trimStart();
  return trimmed.startsWith("curl ") ? readCurl(trimmed) : readRaw(trimmed);
}

const REQUEST_LINE = /^[<>]?\s*([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/;
const HEADER = /^[<>]?\s*([A-Za-z0-9-]+):\s*(.*)$/;

/** Parses headers, an empty line and the body; the first line may be the request line. */
function readRaw(text: string): PastedRequest | null {
  const gap = text.indexOf("\n\n");
  const head = gap === -1 ? text : text.slice(0, gap);
  const headers: Record<string, string> = {};
  for (const line of head.split("\n")) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name !== undefined && value !== undefined) headers[name.toLowerCase()] = value.trim();
  }
  if (Object.keys(headers).length === 0) return null;
  const [, method = "POST", target] = REQUEST_LINE.exec(head.split("\n", 1)[0] ?? "") ?? [];
  const url = urlOf(target, headers.host);
  return { headers, body: gap === -1 ? "" : text.slice(gap + 2), method, url };
}

/** Assumes https, which proxies often terminate. */
function urlOf(target: string | undefined, host: string | undefined): string | undefined {
  if (target === undefined || /^https?:/i.test(target)) return target;
  return host === undefined ? undefined : `https://${host}${target}`;
}

function readCurl(text: string): PastedRequest | null {
  const words = shellWords(text);
  const headers: Record<string, string> = {};
  let body = "";
  const url = words.find((word) => /^https?:\/\//i.test(word));
  words.forEach((word, index) => {
    const next = words[index + 1] ?? "";
    if (word === "-H" || word === "--header") {
      const [, name, value] = HEADER.exec(next) ?? [];
      if (name !== undefined && value !== undefined) headers[name.toLowerCase()] = value.trim();
    }
    if (/^(-d|--data|--data-raw|--data-binary)$/.test(word)) body = next;
  });
  return Object.keys(headers).length === 0 ? null : { headers, body, method: "POST", url };
}

/** Splits a command like a POSIX shell: quotes, backslashes and continued lines. */
function shellWords(text: string): string[] {
  const words: string[] = [];
  const pattern = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\\n|\\(.)|(\s+)|([^\s'"\\]+)/gs;
  let word: string | null = null;
  for (const [whole, single, double, escaped, space, plain] of text.matchAll(pattern)) {
    if (space !== undefined || whole === "\\\n") {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? "") + (single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? plain ?? "");
    }
  }
  return word === null ? words : [...words, word];
}
