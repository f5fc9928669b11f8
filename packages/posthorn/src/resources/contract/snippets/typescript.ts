// Verifies in TypeScript with node:crypto.
import { code, notesOf, shapeOf, signedIn, type Template, TOLERANCE_SECONDS } from "./snippet.ts";

export const typescript: Template = (facts) => {
  const { isToken, isByKeyPair, isHmac, needsId, needsUrl, ...shape } = shapeOf(facts);
  const { signatureHeader, signaturePrefix: prefix, separator, encoding, digestParameter } = facts;
  const imports = [
    (digestParameter !== null || isToken) && "createHash",
    isHmac && "createHmac",
    isByKeyPair && "createPublicKey",
    !isByKeyPair && "timingSafeEqual",
    isByKeyPair && "verify",
  ].filter((name) => name !== false);
  const secret = isByKeyPair ? "publicKey" : "secret";
  const parameters = ["headers: Headers", "body: Uint8Array", `${secret}: string`, needsUrl && "url: string"];
  const values = { id: "id", timestamp: "timestamp", body: "body", method: '"POST"', url: "url" };
  const signed = signedIn(facts, values, (text) => JSON.stringify(text));
  return code(
    `import { ${imports.join(", ")} } from "node:crypto";`,
    "",
    `/** \`body\`: the raw bytes, before any JSON parser.${needsUrl ? " `url`: as the sender addressed you." : ""} */`,
    ...notesOf(facts).map((note) => `// ${note}`),
    `export function isAuthentic(${parameters.filter(Boolean).join(", ")}): boolean {`,
    separator === null
      ? `  const token = headers.get("${signatureHeader}") ?? "";`
      : `  const items = (headers.get("${signatureHeader}") ?? "").split("${separator}");`,
    shape.timestampHeader !== null && `  const timestamp = headers.get("${shape.timestampHeader}") ?? "";`,
    shape.timestampPrefix !== null &&
      `  const timestamp = items.find((item) => item.startsWith("${shape.timestampPrefix}"))?.slice(${shape.timestampPrefix.length}) ?? "";`,
    shape.timeFormat === "rfc3339" && "  const sentAt = Date.parse(timestamp) / 1000;",
    shape.timeFormat === "milliseconds" &&
      "  const sentAt = /^\\d{13}$/.test(timestamp) ? Number(timestamp) / 1000 : Number.NaN;",
    shape.timeFormat === "seconds" &&
      "  const sentAt = /^\\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;",
    shape.timeFormat !== null &&
      `  if (!(Math.abs(Date.now() / 1000 - sentAt) <= ${TOLERANCE_SECONDS})) return false;`,
    digestParameter !== null &&
      `  if (!url.includes(\`${digestParameter}=\${createHash("sha256").update(body).digest("hex")}\`)) return false;`,
    needsId && `  const id = headers.get("${facts.idHeader}") ?? "";`,
    isToken && '  const digest = (text: string) => createHash("sha256").update(text).digest();',
    isToken && "  return timingSafeEqual(digest(token), digest(secret));",
    !isToken && `  const signed = Buffer.concat([${signed.map(asBytes).join(", ")}]);`,
    isHmac && sharedKey[facts.key],
    isHmac && `  const expected = createHmac("${shape.hash}", key).update(signed).digest();`,
    ...(isByKeyPair ? publicKey : []),
    !isToken && "  return items.some((item) => {",
    !isToken && prefix !== "" && `    if (!item.startsWith("${prefix}")) return false;`,
    !isToken && `    const given = Buffer.from(item.slice(${prefix.length}), "${encoding}");`,
    isHmac && "    return given.length === expected.length && timingSafeEqual(given, expected);",
    isByKeyPair && "    return given.length === 64 && verify(null, signed, key, given);",
    !isToken && "  });",
    "}",
  );
};

/** By the encoding of the secret. */
export const sharedKey = {
  text: "  const key = secret;",
  hex: '  const key = Buffer.from(secret, "hex");',
  base64: '  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");',
  ed25519: false,
} as const;

export const publicKey = [
  '  const x = Buffer.from(publicKey.replace(/^whpk_/, ""), "base64").toString("base64url");',
  '  const key = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x } });',
] as const;

function asBytes(expression: string): string {
  return expression === "body" ? expression : `Buffer.from(${expression})`;
}
