import { describe, expect, it } from "vitest";
import {
  loopbackUrls,
  publicUrls,
  specialUrls,
  unusableUrls,
} from "../../../../../tests/support/hostile-urls.ts";
import { checkUrl, type UrlProblemCode } from "./check-url.ts";
import { PUBLIC_ONLY, parseAddressPolicy } from "./guard-address.ts";
import { parseIp } from "./ip-address.ts";

const WITH_HTTP = parseAddressPolicy({ allowHttp: true });
const DEVELOPMENT = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["127.0.0.0/8"] });

function problemOf(text: string, policy = WITH_HTTP): UrlProblemCode | null {
  const check = checkUrl(text, policy);
  return check.ok ? null : check.problem.code;
}

describe("checkUrl", () => {
  it.each([...loopbackUrls, ...specialUrls])("blocks %s", (text) => {
    expect(problemOf(text)).toBe("blocked_address");
  });

  it.each(unusableUrls)("refuses %j: %s", (text, code) => {
    expect(problemOf(text)).toBe(code);
  });

  it.each(publicUrls)("lets %s through", (text) => {
    expect(problemOf(text)).toBeNull();
  });

  it("takes the longest host, label and URL there may be, and no longer one", () => {
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
  ])("takes %s as %s", (text, href) => {
    expect(checkUrl(text, WITH_HTTP)).toEqual({ ok: true, href });
  });

  it("takes https only, unless the operator allows http", () => {
    expect(problemOf("http://example.com/", PUBLIC_ONLY)).toBe("scheme_not_allowed");
    expect(problemOf("http://example.com/", WITH_HTTP)).toBeNull();
  });

  it("opens loopback on any port from 1024 when the operator opens its range", () => {
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

  it("accepts private names once a private range is open, and leaves their addresses to the connector", () => {
    const policy = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["172.16.0.0/12"] });
    expect(problemOf("http://receiver:3000/", policy)).toBeNull();
    expect(problemOf("http://hooks.internal/", policy)).toBeNull();
    expect(problemOf("http://localhost:3000/", policy)).toBe("blocked_address");
  });

  it("refuses an address of this machine's own, though it is public", () => {
    const own = parseIp("8.8.8.8")?.join(".");
    const policy = parseAddressPolicy({ allowHttp: true, isOwn: (address) => address.join(".") === own });
    expect(problemOf("http://8.8.8.8/", policy)).toBe("blocked_address");
    expect(problemOf("http://[::ffff:8.8.8.8]/", policy)).toBe("blocked_address");
    expect(problemOf("http://8.8.4.4/", policy)).toBeNull();
  });

  it("names the rule and the remedy, and never an address", () => {
    const check = checkUrl("http://0x7f.1/", WITH_HTTP);
    const message = check.ok ? "" : check.problem.message;
    expect(message).toContain("not a public one");
    expect(message).toContain('POSTHORN_ALLOW_CIDRS, or the library\'s option "allowCidrs"');
    expect(message).not.toMatch(/127|7f/);
  });

  it("says what to do about it", () => {
    const check = checkUrl("http://example.com/", PUBLIC_ONLY);
    const message = check.ok ? "" : check.problem.message;
    expect(message).toContain("Use an https:// URL");
    expect(message).toContain('POSTHORN_ALLOW_HTTP, or the library\'s option "allowHttp"');
  });
});
