import { createHmac, timingSafeEqual } from "node:crypto";

/** `body`: the raw bytes, before any JSON parser. `header`: X-Webhook-Signature. */
export function isAuthentic(body: Buffer, header: string, secret: string): boolean {
  const fields = header.split(",").map((field) => field.split("=", 2));
  const time = fields.find(([name]) => name === "t")?.[1] ?? "";
  if (!/^\d{1,12}$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > 300) return false;
  const expected = createHmac("sha256", secret).update(`${time}.`).update(body).digest();
  return fields.some(([name, hex]) => {
    const given = Buffer.from(hex ?? "", "hex");
    return name === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
