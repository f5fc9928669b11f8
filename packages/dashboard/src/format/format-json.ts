// Formats JSON for reading without parsing its values: large numbers, 1.0, escapes and the order of keys stay as they are.

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g;

/** Returns null if the text is not a JSON object or array. */
export function formatJson(text: string): string | null {
  if (!isContainer(text)) return null;
  const parts: string[] = [];
  let depth = 0;
  let before = "";
  const newLine = () => `\n${"  ".repeat(depth)}`;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "}" || token === "]") {
      depth -= 1;
      if (before !== "{" && before !== "[") parts.push(newLine());
    } else if (before === "{" || before === "[" || before === ",") parts.push(newLine());
    parts.push(token === ":" ? ": " : token);
    if (token === "{" || token === "[") depth += 1;
    before = token;
  }
  return parts.join("");
}

function isContainer(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Removes white space between the tokens of JSON. */
export function compactJson(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_, quoted?: string) => quoted ?? "");
}
