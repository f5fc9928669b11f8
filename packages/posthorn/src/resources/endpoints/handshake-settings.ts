// How an endpoint is asked whether it wants webhooks, as it is given.
import { isObject } from "@posthorn/wire";
import { findUnknown } from "../../did-you-mean.ts";
import type { InputProblem } from "../../errors.ts";
import type { HandshakeSettings } from "../../model.ts";
import type { Refuse } from "./settings-check.ts";

const DNS_NAME =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;
const MAX_RATE = 600_000;
/** What an endpoint shows besides: it can be sent back as it is. */
const SHOWN = ["state", "allowedRate", "detail", "askedAt", "decidedAt"];

export function readHandshake(value: unknown, refuse: Refuse): HandshakeSettings | undefined {
  if (!isObject(value)) return refuse('handshake is an object such as { origin: "hooks.example.com" }.');
  const { origin, rate = null, ...rest } = value;
  const unknown = Object.entries(rest).filter(([name]) => !SHOWN.includes(name));
  const problems: InputProblem[] = [];
  findUnknown("A handshake has no", Object.fromEntries(unknown), ["origin", "rate"], problems);
  for (const { message, pointer } of problems) refuse(message, pointer);
  const isName = typeof origin === "string" && DNS_NAME.test(origin);
  if (!isName) refuse("origin is the DNS name that stands for you, such as hooks.example.com.", "/origin");
  const isRate =
    rate === null || (Number.isInteger(rate) && (rate as number) >= 1 && (rate as number) <= MAX_RATE);
  if (!isRate)
    refuse(`rate is a whole number of requests per minute from 1 to ${MAX_RATE}, or null.`, "/rate");
  return { origin: String(origin), rate: rate as number | null };
}
