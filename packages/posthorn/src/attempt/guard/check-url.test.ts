import { describe, expect, it } from "vitest";
import {
  loopbackUrls,
  publicUrls,
  specialUrls,
  unusableUrls,
} from "../../../../../tests/support/samples/hostile-urls.ts";
import { checkUrl, type UrlProblemCode } from "./check-url.ts";
import { parseAddressPolicy } from "./guard-address.ts";

const WITH_HTTP = parseAddressPolicy({ allowHttp: true });
const DEVELOPMENT = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["127.0.0.0/8"] });

function problemOf(text: string, policy = WITH_HTTP): UrlProblemCode | null {
  const check = checkUrl(text, policy);
  return check.ok ? null : check.problem.code;
}

describe("checkUrl", () => {
  it.each([...loopbackUrls, ...specialUrls])("blocks %s, without naming an address", (text) => {
    const message = expect.stringMatching(
      /^(?!.*\d\.\d).*(not a public one.*POSTHORN_ALLOW_CIDRS|never allowed)/,
    );
    expect(checkUrl(text, WITH_HTTP)).toEqual({ ok: false, problem: { code: "blocked_address", message } });
  });

  it.each(unusableUrls)("rejects %j: %s", (text, code) => {
    expect(problemOf(text)).toBe(code);
  });

  it.each(publicUrls)("accepts %s", (text) => {
    expect(problemOf(text)).toBeNull();
  });

  it("accepts a host, label and URL of the maximum length, and rejects longer ones", () => {
    const host = (length: number) => `${"a.".repeat((length - 3) / 2)}com`;
    for (const [text, code] of [
      [`https://${host(253)}/`, null],
      [`https://${host(255)}/`, "host_not_allowed"],
      [`https://${"a".repeat(63)}.com/`, null],
      [`https://${"a".repeat(64)}.com/`, "host_not_allowed"],
      [`https://example.com/${"a".repeat(2_028)}`, null],
      [`https://example.com/${"a".repeat(2_029)}`, "url_too_long"],
      ["https://example.com:1024/", null],
      ["https://example.com:1023/", "port_not_allowed"],
    ] as const) {
      expect(problemOf(text), text).toBe(code);
    }
  });

  it.each([
    ["https://example.com", "https://example.com/"],
    ["HTTPS://EXAMPLE.com:443/A?b=c", "https://example.com/A?b=c"],
    ["https://example.com:8443/", "https://example.com:8443/"],
    ["https://example.com:5000/", "https://example.com:5000/"],
    ["https://example.com:80/", "https://example.com:80/"],
    ["https://example.com/#part", "https://example.com/"],
    ["https://☃.net/", "https://xn--n3h.net/"],
    ["https://8.8.8.8/", "https://8.8.8.8/"],
    ["https://[2600::1]/", "https://[2600::1]/"],
    ["http://example.com\\@127.0.0.1/", "http://example.com/@127.0.0.1/"],
  ])("normalises %s to %s", (text, href) => {
    expect(checkUrl(text, WITH_HTTP)).toEqual({ ok: true, href });
  });

  it("accepts loopback on ports from 1024 if the operator allows its range", () => {
    for (const text of [
      "http://127.0.0.1:3000/",
      "http://localhost:5432/",
      "http://127.1:6379/",
      "http://localhost/",
    ]) {
      expect(problemOf(text, DEVELOPMENT), text).toBeNull();
    }
    expect(problemOf("http://127.0.0.1:22/", DEVELOPMENT)).toBe("port_not_allowed");
    expect(problemOf("http://10.0.0.1/", DEVELOPMENT)).toBe("blocked_address");
    expect(problemOf("http://metadata.google.internal/", DEVELOPMENT)).toBe("blocked_address");
    expect(problemOf("http://example.com:6379/", DEVELOPMENT)).toBe("port_not_allowed");
  });

  it("accepts private names if a private range is allowed, and leaves their addresses to the connector", () => {
    const policy = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["172.16.0.0/12"] });
    expect(problemOf("http://receiver:3000/", policy)).toBeNull();
    expect(problemOf("http://hooks.internal/", policy)).toBeNull();
    expect(problemOf("http://localhost:3000/", policy)).toBe("blocked_address");
  });
});
