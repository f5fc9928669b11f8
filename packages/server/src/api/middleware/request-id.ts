// Every request has an id: the caller's X-Request-Id if it is safe to log, otherwise a new one. It is sent back and logged.
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";

const process = randomBytes(6).toString("base64url");
let count = 0;

export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && SAFE_ID.test(given) ? given : newRequestId();
}

export function newRequestId(): string {
  count += 1;
  return `req_${process}${count.toString(36)}`;
}

const SAFE_ID = /^[A-Za-z0-9_.:/+=@-]{1,128}$/;
