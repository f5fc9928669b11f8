// The public keys that verify an endpoint's signatures, as a JWK set and as whpk_ texts.
import type { Posthorn } from "posthorn";
import { cacheable } from "../entity-tag.ts";
import type { Exchange } from "../exchange.ts";
import type { Reply } from "../reply.ts";
import { publicRoute, type Route } from "../router.ts";

/** Shorter than the overlap of a key rotation, so that receivers see a new key in time. */
const CACHE_SECONDS = 300;

export function publicKeyRoutes({ endpoints }: Posthorn): Route[] {
  const path = "/.well-known/webhook-keys/{endpoint}";
  return [publicRoute("GET", path, keySet), publicRoute("GET", `${path}/whpk`, texts)];

  async function keySet(exchange: Exchange): Promise<Reply> {
    const keys = (await endpoints.publicKeys(endpointOf(exchange))).map(({ id, publicKey, bytes }) => ({
      kty: "OKP",
      crv: "Ed25519",
      x: bytes.toString("base64url"),
      kid: id,
      use: "sig",
      alg: "EdDSA",
      whpk: publicKey,
    }));
    return cacheable(exchange.request, "application/jwk-set+json", JSON.stringify({ keys }), CACHE_SECONDS);
  }

  async function texts(exchange: Exchange): Promise<Reply> {
    const keys = await endpoints.publicKeys(endpointOf(exchange));
    const body = keys.map(({ publicKey }) => `${publicKey}\n`).join("");
    return cacheable(exchange.request, "text/plain; charset=utf-8", body, CACHE_SECONDS);
  }
}

function endpointOf({ params }: Exchange): string {
  return params.endpoint as string;
}
