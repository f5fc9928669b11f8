// Maps an exception to an AttemptError. Everything that the network or a receiver can cause becomes a value here.
import type { AttemptError } from "../model.ts";

export interface ErrorClass {
  readonly error: AttemptError;
  /** One line for the attempt log. Never contains a resolved address: that would make this a DNS oracle. */
  readonly detail: string;
}

/** The address guard blocked the connection, in any of its three layers. The message is the same for every address. */
export class BlockedAddressError extends Error {
  constructor() {
    super(
      "The host resolves to an address that is not public, so nothing was sent. Point it at a public address. An " +
        'operator can allow private ranges with POSTHORN_ALLOW_CIDRS, or the library\'s option "allowCidrs".',
    );
  }
}

/** A name that was not resolved, with the resolver's code: ENOTFOUND, ESERVFAIL, ETIMEOUT, … */
export class NameNotResolvedError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`the host name could not be resolved (${code})`);
    this.code = code;
  }
}

export function classifyError(thrown: unknown): ErrorClass {
  if (thrown instanceof BlockedAddressError) return { error: "blocked_address", detail: thrown.message };
  if (thrown instanceof NameNotResolvedError) return { error: "dns_error", detail: thrown.message };
  const { code, message } = describe(thrown);
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  if (isTlsCode(code)) return { error: "tls_error", detail: `${short(message)} (${code})` };
  return { error: "connection_error", detail: code === "" ? short(message) : `connection failed (${code})` };
}

const BY_CODE: Readonly<Record<string, ErrorClass | undefined>> = {
  ECONNREFUSED: { error: "connection_refused", detail: "connection refused" },
  ECONNRESET: { error: "connection_reset", detail: "connection reset before a response" },
  EPIPE: { error: "connection_reset", detail: "connection closed while the request was being sent" },
  ETIMEDOUT: { error: "timeout", detail: "no connection within the time limit" },
};

// OpenSSL's verification results have names without a common prefix.
function isTlsCode(code: string): boolean {
  return /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|ERROR_IN_C)/.test(
    code,
  );
}

function describe(thrown: unknown): { code: string; message: string } {
  if (!(thrown instanceof Error)) return { code: "", message: String(thrown) };
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
  return { code, message: thrown.message };
}

/** A certificate may contain a hundred names, and OpenSSL's messages have several lines. */
function short(message: string): string {
  const line = message.split("\n", 1)[0] ?? "";
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
