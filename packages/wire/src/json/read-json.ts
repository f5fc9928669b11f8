// Parses bytes as JSON, strictly: a body that is not UTF-8 is rejected instead of repaired.

export type Json =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

const decoder = new TextDecoder("utf-8", { fatal: true });

export function readJson(body: Uint8Array): Json {
  let text: string;
  try {
    text = decoder.decode(body);
  } catch {
    return { ok: false, reason: "The body is not UTF-8." };
  }
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, reason: `The body is not JSON: ${(error as Error).message}` };
  }
}
