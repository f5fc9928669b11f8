// The `--data` option: JSON on the command line, in a file (@path) or on standard input (-).
import { readFileSync } from "node:fs";
import { usage } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Returns the text unchanged after checking that it is JSON. */
export async function readData(text: string, terminal: Terminal): Promise<string> {
  const { source, json } = await find(text, terminal);
  try {
    JSON.parse(json);
    return json;
  } catch (error) {
    throw usage(
      `${source} is not JSON: ${(error as Error).message}. Use JSON such as '{"id":1}', @file, or - for standard input.`,
    );
  }
}

export async function readObject(text: string, terminal: Terminal): Promise<Record<string, unknown>> {
  const value: unknown = JSON.parse(await readData(text, terminal));
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as never;
  throw usage("--data must be a JSON object.");
}

export async function readAll(stdin: Terminal["stdin"]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}

export function readNamedFile(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code = "an error" } = error as { code?: string };
    throw usage(`${option} names ${path}, which cannot be read (${code}). Check the path.`);
  }
}

async function find(text: string, { stdin }: Terminal): Promise<{ source: string; json: string }> {
  if (text === "-") return { source: "Standard input", json: (await readAll(stdin)).toString("utf8") };
  if (!text.startsWith("@")) return { source: "--data", json: text };
  const path = text.slice(1);
  return { source: path, json: readNamedFile("--data", path).toString("utf8") };
}
