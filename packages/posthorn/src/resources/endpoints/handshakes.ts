// Records the result of handshakes: from the response to OPTIONS, or from the endpoint's callback later. A grant opens the
// lane, so it is a change to the endpoint (changes.ts).
import { formatId } from "@posthorn/wire";
import { granted, readRate } from "../../destinations/handshake/decide-handshake.ts";
import { PosthornError } from "../../errors.ts";
import type { HandshakeDecision } from "../../model.ts";
import type { Database } from "../../storage/database.ts";
import { incrementEndpointVersion } from "../../storage/queries/endpoints/write.ts";
import { type DueHandshake, findHandshake, settleHandshake } from "../../storage/queries/handshakes.ts";
import type { EndpointChanges } from "./changes.ts";

export type Handshakes = ReturnType<typeof createHandshakes>;

export function createHandshakes(db: Database, { changeOne }: EndpointChanges) {
  return { settleHandshake: settle, grant };

  /** Records the endpoint's response to the handshake request; called by the engine. */
  async function settle(
    { tenant, endpointId, callbackToken }: Pick<DueHandshake, "tenant" | "endpointId" | "callbackToken">,
    decision: HandshakeDecision,
  ): Promise<void> {
    try {
      await changeOne(tenant, formatId("ep", endpointId), async (tx) => {
        if (await settleHandshake(tx, callbackToken, decision))
          await incrementEndpointVersion(tx, endpointId);
      });
    } catch (error) {
      // deleted in the meantime
      if (!(error instanceof PosthornError) || error.code !== "endpoint_not_found") throw error;
    }
  }

  /** Grants by callback: the endpoint called the URL it was given. `allowedRate` is its WebHook-Allowed-Rate header. */
  async function grant(callbackToken: string, allowedRate?: string): Promise<void> {
    const found = TOKEN.test(callbackToken) ? await findHandshake(db, callbackToken) : null;
    if (found === null) {
      throw new PosthornError(
        "endpoint_not_found",
        "No endpoint is waiting for a grant at this URL. It may have been changed or deleted.",
      );
    }
    const rate = readRate(allowedRate, found.rate);
    if (rate === undefined)
      throw new PosthornError(
        "invalid_endpoint",
        "WebHook-Allowed-Rate is a number of requests per minute, or *.",
      );
    // a repeated grant writes nothing, so that repeated calls of the URL are cheap
    if (found.state === "granted" && found.allowedRate === rate) return;
    await settle({ ...found, callbackToken }, granted(rate));
  }
}

/** The form in which writer.ts generates them. */
const TOKEN = /^[\w-]{32}$/;
