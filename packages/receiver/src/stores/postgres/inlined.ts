// Statements with their values in the text, because PostgreSQL accepts several statements in one message only without parameters.
import { encode } from "@posthorn/wire";
import type { Statement } from "./database.ts";

export function inlined({ text, values }: Statement): string {
  const [first = "", ...rest] = piecesOf(text);
  let inlined = first;
  for (let at = 0; at < rest.length; at += 2) {
    inlined += literal(values[Number(rest[at]) - 1]) + rest[at + 1];
  }
  return inlined;
}

/** There are few statements, and a search for each message would cost as much as its claim in this process. */
const split = new Map<string, readonly string[]>();

/** The text around the placeholders, and their numbers. */
function piecesOf(text: string): readonly string[] {
  let pieces = split.get(text);
  if (pieces === undefined) {
    pieces = text.split(/\$(\d+)/);
    split.set(text, pieces);
  }
  return pieces;
}

/**
 * Text that could end a literal is written in hexadecimal, so nothing is escaped, and neither `standard_conforming_strings` nor
 * `client_encoding` matters.
 */
function literal(value: Statement["values"][number] | undefined): string {
  if (value === null || value === undefined) return "null";
  const text = String(value);
  if (HARMLESS.test(text)) return `'${text}'`;
  const hex = encode("hex", new TextEncoder().encode(text));
  return `convert_from(decode('${hex}', 'hex'), 'UTF8')`;
}

/** ASCII without the quote, the backslash and control characters. */
const HARMLESS = /^[\x20-\x26\x28-\x5b\x5d-\x7e]*$/;
