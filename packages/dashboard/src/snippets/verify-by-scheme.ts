import { verify } from "@posthorn/wire";

/** `body`: the raw bytes, before any JSON parser. `url`: as the sender addressed you. */
export async function isAuthentic(
  request: { headers: Headers; body: Uint8Array; url: string },
  secret: string,
): Promise<boolean> {
  const scheme = "standard-webhooks";
  const result = await verify({ ...request, scheme, method: "POST", secrets: [secret] });
  return result.ok;
}
