import { describe, expect, it } from "vitest";
import type { AttemptError } from "../model.ts";
import { BlockedAddressError, classifyError, NameNotResolvedError } from "./classify-error.ts";

function coded(code: string, message = "something with 10.0.0.5 in it"): Error {
  return Object.assign(new Error(message), { code });
}

describe("classifyError", () => {
  it.each<[AttemptError, string[]]>([
    ["timeout", ["ETIMEDOUT"]],
    ["connection_refused", ["ECONNREFUSED"]],
    ["connection_reset", ["ECONNRESET", "EPIPE"]],
    ["connection_error", ["EHOSTUNREACH", "ENETUNREACH", "EMFILE", "EADDRNOTAVAIL", "SOMETHING_NEW"]],
    ["tls_error", ["DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "CERT_HAS_EXPIRED", "EPROTO"]],
    [
      "tls_error",
      ["ERR_TLS_CERT_ALTNAME_INVALID", "ERR_SSL_WRONG_VERSION_NUMBER", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ],
  ])("gives %s for %j", (error, codes) => {
    for (const code of codes) expect(classifyError(coded(code)).error, code).toBe(error);
  });

  it("reveals no address, except in the text of a certificate", () => {
    for (const code of ["ECONNREFUSED", "EHOSTUNREACH", "SOMETHING_NEW"]) {
      expect(classifyError(coded(code)).detail).not.toContain("10.0.0.5");
    }
  });

  it("names the rule and the fix for a blocked address, and the cause for a name without an address", () => {
    const { error, detail } = classifyError(new BlockedAddressError());
    expect(error).toBe("blocked_address");
    expect(detail).toContain("not public");
    expect(detail).toContain("POSTHORN_ALLOW_CIDRS");
    expect(classifyError(new NameNotResolvedError("ECONNREFUSED"))).toEqual({
      error: "dns_error",
      detail: "the host name could not be resolved (ECONNREFUSED)",
    });
  });

  it("accepts any thrown value", () => {
    for (const thrown of [undefined, null, "text", 7, {}, new Error("")]) {
      expect(classifyError(thrown).error).toBe("connection_error");
    }
  });

  it("keeps the detail to one short line", () => {
    const { detail } = classifyError(coded("EPROTO", `${"long ".repeat(100)}\nsecond line`));
    expect(detail.length).toBeLessThanOrEqual(200);
    expect(detail).not.toContain("\n");
  });
});
