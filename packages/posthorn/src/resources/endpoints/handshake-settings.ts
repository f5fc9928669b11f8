// Reads the handshake settings given for an endpoint.
import { endpointSettings, isObject } from "@posthorn/wire";
import type { HandshakeSettings } from "../../model.ts";
import { isWholeNumber, type Refuse } from "../read-fields.ts";
import { refuseUnknownFields } from "./settings-check.ts";

const DNS_NAME =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;
const { rate: rateField } = endpointSettings.handshake.fields;
/** Read-only fields of a handshake. They are ignored, so that what was read can be sent back. */
const READ_ONLY = ["state", "allowedRate", "detail", "requestedAt", "decidedAt"];

export interface HandshakeInput {
  /** The DNS name of the sender, such as `hooks.example.com`. */
  readonly origin: string;
  /** Requests per minute to ask for. */
  readonly rate?: number | null | undefined;
}

export function readHandshake(value: unknown, refuse: Refuse): HandshakeSettings | undefined {
  if (!isObject(value)) return refuse('handshake is an object such as { origin: "hooks.example.com" }.');
  const { origin, rate = null, ...rest } = value;
  const unknown = Object.entries(rest).filter(([name]) => !READ_ONLY.includes(name));
  refuseUnknownFields("A handshake has no", Object.fromEntries(unknown), ["origin", "rate"], refuse);
  const isName = typeof origin === "string" && DNS_NAME.test(origin);
  if (!isName) refuse("origin is the DNS name of the sender, such as hooks.example.com.", "/origin");
  if (rate !== null && !isWholeNumber(rate, rateField.min, rateField.max))
    refuse(
      `rate is a whole number of requests per minute from ${rateField.min} to ${rateField.max}, or null.`,
      "/rate",
    );
  return { origin: String(origin), rate: rate as number | null };
}
