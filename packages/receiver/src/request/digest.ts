// SHA-256 in lower-case hex.
import { sha256Of } from "@posthorn/wire";

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  let hex = "";
  for (const byte of await sha256Of(bytes)) hex += HEX[byte];
  return hex;
}
