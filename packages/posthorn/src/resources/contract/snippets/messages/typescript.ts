// Verifies HTTP Message Signatures in TypeScript with node:crypto.
import { code, TOLERANCE_SECONDS } from "../snippet.ts";
import { publicKey, sharedKey } from "../typescript.ts";
import { type MessageTemplate, quotedHeaders } from "./message.ts";

export const typescript: MessageTemplate = (key) => {
  const isByKeyPair = key === "ed25519";
  const imports = isByKeyPair
    ? "createHash, createPublicKey, verify"
    : "createHash, createHmac, timingSafeEqual";
  return code(
    `import { ${imports} } from "node:crypto";`,
    "",
    "/** `body`: the raw bytes, before any JSON parser. `url`: as the sender addressed you. */",
    `export function isAuthentic(headers: Headers, body: Uint8Array, ${isByKeyPair ? "publicKey" : "secret"}: string, url: string): boolean {`,
    '  const timestamp = headers.get("webhook-timestamp") ?? "";',
    "  const sentAt = /^\\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;",
    `  if (!(Math.abs(Date.now() / 1000 - sentAt) <= ${TOLERANCE_SECONDS})) return false;`,
    '  const digest = createHash("sha256").update(body).digest("base64");',
    `  if (headers.get("Content-Digest") !== \`sha-256=:\${digest}:\`) return false;`,
    `  const names = [${quotedHeaders}].filter((name) => headers.has(name));`,
    `  const covered = \`(\${["@method", "@target-uri", ...names].map((name) => \`"\${name}"\`).join(" ")});\`;`,
    `  const lines = names.map((name) => \`"\${name}": \${headers.get(name)}\\n\`).join("");`,
    ...(isByKeyPair ? publicKey : [sharedKey[key]]),
    '  const inputs = (headers.get("Signature-Input") ?? "").split(", ");',
    '  return (headers.get("Signature") ?? "").split(", ").some((item, index) => {',
    '    const params = (inputs[index] ?? "").replace(/^sig\\d+=/, "");',
    "    if (!params.startsWith(covered)) return false;",
    `    const signed = \`"@method": POST\\n"@target-uri": \${url}\\n\${lines}"@signature-params": \${params}\`;`,
    '    const given = Buffer.from(item.replace(/^sig\\d+=:/, ""), "base64");',
    !isByKeyPair && '    const expected = createHmac("sha256", key).update(signed).digest();',
    isByKeyPair
      ? "    return given.length === 64 && verify(null, Buffer.from(signed), key, given);"
      : "    return given.length === expected.length && timingSafeEqual(given, expected);",
    "  });",
    "}",
  );
};
