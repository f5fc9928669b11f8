import { describe, expect, it } from "vitest";
import { checkUrl, type UrlProblemCode } from "./check-url.ts";
import { PUBLIC_ONLY, parseAddressPolicy } from "./guard-address.ts";

const WITH_HTTP = parseAddressPolicy({ allowHttp: true });
const DEVELOPMENT = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["127.0.0.0/8"] });

function problemOf(text: string, policy = WITH_HTTP): UrlProblemCode | null {
  const check = checkUrl(text, policy);
  return check.ok ? null : check.problem.code;
}

const BLOCKED = [
  "http://127.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0x7f.1/",
  "http://0177.0.0.1/",
  "http://017700000001/",
  "http://127.0.0.1./",
  "http://%31%32%37.0.0.1/",
  "http://①②⑦.⓪.⓪.①/",
  "http://127。0。0。1/",
  "http:127.0.0.1",
  "http:///127.0.0.1/",
  "http://0/",
  "http://0.0.0.0/",
  "http://[::]/",
  "http://LOCALHOST/",
  "http://localhost./",
  "http://localhost%2e/",
  "http://loca%6chost/",
  "http://ｌｏｃａｌｈｏｓｔ/",
  "http://local\u00adhost/",
  "http://local\u200bhost/",
  "http://api.localhost/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[0:0:0:0:0:ffff:127.0.0.1]/",
  "http://[::127.0.0.1]/",
  "http://[::ffff:0:127.0.0.1]/",
  "http://[64:ff9b::169.254.169.254]/",
  "http://[2002:7f00:1::]/",
  "http://[2001::1]/",
  "http://[fec0::1]/",
  "http://[fd00:ec2::254]/",
  "http://[4000::1]/",
  "http://10.0.0.1/",
  "http://100.100.100.200/",
  "http://169.254.169.254/latest/meta-data",
  "http://metadata.google.internal/",
  "http://127.0.0.1#@example.com/",
];

const INVALID = [
  "",
  "example.com",
  "//127.0.0.1",
  "http://[fe80::1%25eth0]/",
  "http://[fe80::1%eth0]/",
  "http://127.0.0.1%00.x/",
  "http://example.com:65536/",
  "http://256.256.256.256/",
  "http://1.2.3.4.5/",
  "http://4294967296/",
  "http://xn--/",
  "https://example.com/a\r\nX: y",
  "https://exa\tmple.com/",
  "https://example.com/\u0000",
  "https://example.com/\u007f",
];

describe("checkUrl", () => {
  it.each(BLOCKED)("blocks %s", (text) => {
    expect(problemOf(text)).toBe("blocked_address");
  });

  it.each(INVALID)("refuses %j as no URL", (text) => {
    expect(problemOf(text)).toBe("invalid_url");
  });

  it.each<[string, UrlProblemCode]>([
    ["file:///etc/passwd", "scheme_not_allowed"],
    ["ftp://example.com/", "scheme_not_allowed"],
    ["gopher://example.com/", "scheme_not_allowed"],
    ["javascript:alert(1)", "scheme_not_allowed"],
    ["data:text/plain,x", "scheme_not_allowed"],
    ["ws://example.com/", "scheme_not_allowed"],
    ["unix:/var/run/docker.sock", "scheme_not_allowed"],
    ["http://u:p@example.com/", "credentials_in_url"],
    ["http://u@example.com/", "credentials_in_url"],
    ["http://example.com@127.0.0.1/", "credentials_in_url"],
    ["https://example.com:0/", "port_not_allowed"],
    ["https://example.com:22/", "port_not_allowed"],
    ["https://example.com:25/", "port_not_allowed"],
    ["https://example.com:1023/", "port_not_allowed"],
    ["https://example.com:6379/", "port_not_allowed"],
    ["https://example.com:11211/", "port_not_allowed"],
    ["https://intranet/", "host_not_allowed"],
    ["https://db.internal/", "host_not_allowed"],
    ["https://printer.local/", "host_not_allowed"],
    ["https://nas.home.arpa/", "host_not_allowed"],
    ["https://example.com./", "host_not_allowed"],
    ["https://a..b/", "host_not_allowed"],
    ["https://-/", "host_not_allowed"],
    ["https://-a.example.com/", "host_not_allowed"],
    ["https://ex_ample.com/", "host_not_allowed"],
    [`https://${"a".repeat(64)}.com/`, "host_not_allowed"],
    [`https://${"a.".repeat(126)}com/`, "host_not_allowed"],
    [`https://example.com/${"a".repeat(3_000)}`, "url_too_long"],
    [`https://example.com/${"é".repeat(1_000)}`, "url_too_long"],
  ])("refuses %s: %s", (text, code) => {
    expect(problemOf(text)).toBe(code);
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

  it("says what to do about it", () => {
    const check = checkUrl("http://example.com/", PUBLIC_ONLY);
    expect(check).toMatchObject({ problem: { message: expect.stringContaining("Use an https:// URL") } });
  });
});
