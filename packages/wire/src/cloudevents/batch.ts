// Batch mode: a JSON array of any number of structured events. Only sent to receivers that request it.

import { concat } from "../encoding.ts";
import { rawMembers } from "../json/raw-members.ts";
import { readJson } from "../json/read-json.ts";
import { type CloudEvent, type CloudEventProblem, type Decoded, malformed } from "./cloud-event.ts";
import { ANY_SIZE, decodeMember } from "./structured.ts";

export interface BatchMember {
  readonly event: CloudEvent;
  /** The member's bytes: the body that structured mode would have. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Joins members serialised in structured mode. */
export function encodeBatch(members: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return concat(["[", ...members.flatMap((member, at) => (at === 0 ? [member] : [",", member])), "]"]);
}

/** The length of a batch with members of these lengths, including commas and brackets. */
export function batchBytes(lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + length, 0) + Math.max(0, lengths.length - 1) + 2;
}

export function decodeBatch(body: Uint8Array): Decoded<BatchMember[]> {
  const json = readJson(body);
  if (!json.ok) return malformed("", json.reason);
  const document = rawMembers(body, ANY_SIZE);
  if (document.kind !== "array") return malformed("", "A batch must be a JSON array.");
  const problems: CloudEventProblem[] = [];
  const members: BatchMember[] = [];
  for (const [index, item] of document.items.entries()) {
    const parsed = (json.value as readonly unknown[])[index];
    const read = decodeMember(body, parsed, item.members, `/${index}`);
    if (read.ok) members.push({ event: read.value, body: body.slice(item.start, item.end) });
    else problems.push(...read.problems);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: members };
}
