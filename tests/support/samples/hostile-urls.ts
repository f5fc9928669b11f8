// URLs that must be blocked, and similar valid ones. Used wherever a URL is checked: when it is parsed, when an
// endpoint is registered, and when a delivery is sent to an unchecked row.
import type { UrlProblemCode } from "../../../packages/posthorn/src/attempt/guard/check-url.ts";

/** Loopback in other spellings: if one were allowed, a listener on this machine would get the request. */
export const loopbackUrls: readonly string[] = [
  "http://127.0.0.1/",
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
  "http://127.255.255.254/",
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
  "http://[::ffff:7f00:1]/",
  "http://[0:0:0:0:0:ffff:127.0.0.1]/",
  "http://[::127.0.0.1]/",
  "http://[::ffff:0:127.0.0.1]/",
  "http://127.0.0.1#@example.com/",
];

/** Everything else that is not public. */
export const specialUrls: readonly string[] = [
  ..."64:ff9b::169.254.169.254 64:ff9b::8.8.8.8 64:ff9b:1::7f00:1 2002:7f00:1:: 2001::1 fec0::1 fe80::1 fc00::1".split(
    " ",
  ),
  ..."fd00:ec2::254 fd20:ce::254 ff02::1 100::1 3fff::1 5f00::1 4000::1 2001:db8::1".split(" "),
]
  .map((ip) => `[${ip}]`)
  .concat(
    "10.0.0.0 10.0.0.1 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.1 100.64.0.0 100.100.100.200".split(
      " ",
    ),
    "100.127.255.255 169.254.169.254 169.254.170.2 168.63.129.16 192.0.0.192 198.18.0.0 198.19.255.255".split(
      " ",
    ),
    "192.0.2.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255".split(" "),
    "metadata.google.internal",
  )
  .map((host) => `http://${host}/`);

/** Rejected for their syntax, not for their address. */
export const unusableUrls: readonly (readonly [url: string, code: UrlProblemCode])[] = [
  ["", "invalid_url"],
  ["example.com", "invalid_url"],
  ["//127.0.0.1", "invalid_url"],
  ["http://[fe80::1%25eth0]/", "invalid_url"],
  ["http://[fe80::1%eth0]/", "invalid_url"],
  ["http://127.0.0.1%00.x/", "invalid_url"],
  ["http://example.com:65536/", "invalid_url"],
  ["http://256.256.256.256/", "invalid_url"],
  ["http://1.2.3.4.5/", "invalid_url"],
  ["http://4294967296/", "invalid_url"],
  ["http://xn--/", "invalid_url"],
  ["https://example.com/a\r\nX: y", "invalid_url"],
  ["https://exa\tmple.com/", "invalid_url"],
  ["https://example.com/\u007f", "invalid_url"],
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
  [`https://${"a.".repeat(126)}co/`, "host_not_allowed"],
  [`https://example.com/${"a".repeat(3_000)}`, "url_too_long"],
  [`https://example.com/${"é".repeat(1_000)}`, "url_too_long"],
];

/** Just outside of a special range: these must be allowed. */
export const publicUrls: readonly string[] =
  "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 168.63.129.15 168.63.129.17 [2600::] [2000::1] [2001:200::1] [2003::1] [::ffff:8.8.8.8]"
    .split(" ")
    .map((host) => `http://${host}/`);
