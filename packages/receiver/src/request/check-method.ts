// Accepts POST, and the handshake of CloudEvents senders: "HTTP 1.1 Web Hooks for Event Delivery" §4.

import { readHeader } from "../headers.ts";
import type { WebhookRequest, WebhookResponse } from "../model.ts";
import type { Handshake } from "../options.ts";
import { jsonResponse } from "../respond.ts";
import { Rejection } from "./rejection.ts";

/** Returns null for a POST. In the handshake only headers grant permission; senders ignore the status. */
export function checkMethod(
  { method, headers }: WebhookRequest,
  handshake: Handshake | null,
): WebhookResponse | Rejection | null {
  if (method === "POST") return null;
  const origin = readHeader(headers, "webhook-request-origin");
  if (method !== "OPTIONS" || handshake === null) {
    const allow = handshake === null ? "POST" : "POST, OPTIONS";
    const response = jsonResponse(405, { error: `The method is not allowed. Use ${allow}.` }, { allow });
    return new Rejection(response, "method", `The method is ${method.slice(0, 60)}.`);
  }
  const { allowedOrigins, rate } = handshake;
  const isAllowed = origin !== null && (allowedOrigins.includes("*") || allowedOrigins.includes(origin));
  if (!isAllowed) {
    const response = jsonResponse(403, { error: "This origin is not allowed." }, { allow: "POST" });
    const detail = `The handshake came from the origin ${String(origin).slice(0, 253)}.`;
    return new Rejection(response, "handshake", detail);
  }
  return {
    status: 204,
    headers: {
      allow: "POST",
      "webhook-allowed-origin": origin,
      "webhook-allowed-rate": grantedRate(readHeader(headers, "webhook-request-rate"), rate),
    },
    body: "",
  };
}

/** The requested rate, up to the limit. */
function grantedRate(requested: string | null, rate: number | null): string {
  const wanted = requested !== null && /^[1-9]\d{0,8}$/.test(requested) ? Number(requested) : null;
  if (rate === null) return wanted === null ? "*" : String(wanted);
  return String(wanted === null ? rate : Math.min(wanted, rate));
}
