// Reads the string literals of TypeScript source, with the code before each: enough to find imports and SQL, without a
// compiler. Comments are skipped, so that an import in an example does not count and a glob such as "/**" hides nothing.

export interface StringLiteral {
  /** What is between the quotes; each `${…}` of a template is one space. */
  text: string;
  /** The code before it on the way from the last statement, without comments or white space at its end. */
  before: string;
}

export function readStrings(source: string): StringLiteral[] {
  const found: StringLiteral[] = [];
  readCode(source, 0, found);
  return found;
}

/** The code alone: without comments, and with nothing between quotes. What is in a template's `${…}` is code. */
export function readBareCode(source: string): string {
  const bare: string[] = [];
  readCode(source, 0, [], bare);
  return bare.join("");
}

/** Reads code up to the bracket that closes it (the end of a `${`), or to the end. Returns where it stopped. */
function readCode(source: string, start: number, found: StringLiteral[], bare: string[] = []): number {
  let code = "";
  let depth = 0;
  let at = start;
  while (at < source.length) {
    const char = source[at] as string;
    const pair = source.slice(at, at + 2);
    if (pair === "//") {
      at = indexAfter(source, "\n", at);
    } else if (pair === "/*") {
      at = indexAfter(source, "*/", at + 2);
    } else if (char === '"' || char === "'" || char === "`") {
      bare.push(quotes);
      const literal = readLiteral(source, at, found, bare);
      found.push({ text: literal.text, before: code.trimEnd().slice(-40) });
      code += quotes;
      at = literal.end;
    } else if (char === "/" && startsRegExp(code)) {
      at = endOfRegExp(source, at);
      code += "/./";
    } else {
      if (char === "}" && depth-- === 0) return at + 1;
      if (char === "{") depth++;
      code = code.slice(-80) + char;
      bare.push(char);
      at++;
    }
  }
  return at;
}

const quotes = '""';

function readLiteral(
  source: string,
  start: number,
  found: StringLiteral[],
  bare: string[],
): { text: string; end: number } {
  const quote = source[start] as string;
  let text = "";
  let at = start + 1;
  while (at < source.length && source[at] !== quote) {
    if (quote === "`" && source.startsWith("${", at)) {
      bare.push(" ");
      at = readCode(source, at + 2, found, bare);
      text += " ";
    } else {
      if (source[at] === "\\") at++;
      text += source[at];
      at++;
    }
  }
  return { text, end: at + 1 };
}

/** A slash divides after a value; after anything else it opens a regular expression. */
function startsRegExp(code: string): boolean {
  const before = code.trimEnd();
  return /(^|[=(,:[!&|?{};+<>~*%-])$|\b(return|typeof|case|in|of|yield|await)$/.test(before);
}

function endOfRegExp(source: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < source.length; at++) {
    const char = source[at];
    if (char === "\\") at++;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "\n" || (char === "/" && !inClass)) return at + 1;
  }
  return source.length;
}

function indexAfter(source: string, text: string, from: number): number {
  const index = source.indexOf(text, from);
  return index === -1 ? source.length : index + text.length;
}
