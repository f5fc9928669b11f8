import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { mountPath, Site } from "./site.ts";

interface Given {
  readonly url?: string;
  readonly originalUrl?: string;
  readonly isTls?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

function requestWith({ url = "/", originalUrl, isTls = false, headers = {} }: Given): IncomingMessage {
  const socket = isTls ? { encrypted: true } : {};
  return { url, originalUrl, headers, socket } as unknown as IncomingMessage;
}

test.each<[originalUrl: string | undefined, url: string, mount: string]>([
  [undefined, "//evil.example/portal", ""],
  ["/portal", "/portal", ""],
  ["/webhooks/portal?a=/b", "/portal?a=/b", "/webhooks"],
  ["/webhooks", "/", "/webhooks"],
  ["/webhooks/", "/", "/webhooks"],
  ["/a-b/c.d/~e/tail", "/tail", "/a-b/c.d/~e"],
  // another host and anything but plain segments is ignored
  ["//evil.example/portal", "/portal", ""],
  ["/a//b/portal", "/portal", ""],
  ["/../portal", "/portal", ""],
  ["/a/./portal", "/portal", ""],
  ['/"><script>/portal', "/portal", ""],
  ["/$(reboot)/portal", "/portal", ""],
  ["/%2f%2fevil.example/portal", "/portal", ""],
  ["/a\\b/portal", "/portal", ""],
])("a request for %s that an application passes on as %s is mounted at %j", (originalUrl, url, mount) => {
  expect(mountPath(requestWith({ url, ...(originalUrl !== undefined && { originalUrl }) }))).toBe(mount);
});

test.each<[host: string | undefined, isTls: boolean, url: string]>([
  ["127.0.0.1:9000", false, "http://127.0.0.1:9000"],
  ["[::1]:9000", false, "http://[::1]:9000"],
  ["hooks.example", true, "https://hooks.example"],
  // the URL is pasted into shells
  ["$(reboot)", false, "http://…"],
  ["a b", false, "http://…"],
  ["x;y", false, "http://…"],
  ["<script>", false, "http://…"],
  ["", false, "http://…"],
  [undefined, false, "http://…"],
])("with the host %s and TLS %s the URL is %s, unless a public URL is configured", (host, isTls, url) => {
  const request = requestWith({ isTls, ...(host !== undefined && { headers: { host } }) });
  expect(new Site({}).url(request)).toBe(url);
  expect(new Site({ publicUrl: "https://hooks.example/in/" }).url(request)).toBe("https://hooks.example/in");
});

describe("a host", () => {
  const site = new Site({ publicUrl: "https://Hooks.example:8443", allowedHosts: ["Inside.example"] });
  test.each<[host: string | undefined, isKnown: boolean]>([
    ["hooks.example", true],
    ["HOOKS.EXAMPLE:8443", true],
    ["hooks.example.:1", true],
    ["inside.example", true],
    ["localhost:8400", true],
    ["app.localhost", true],
    ["127.0.0.1", true],
    ["127.8.9.10:80", true],
    ["[::1]:8400", true],
    ["evil.example", false],
    ["evilhooks.example", false],
    ["hooks.example.evil.example", false],
    ["localhost.evil.example", false],
    ["127.0.0.1.evil.example", false],
    ["10.0.0.1", false],
    ["[::2]", false],
    ["hooks.example@evil.example", false],
    ["hooks.example/", false],
    ["", false],
    [undefined, false],
  ])("%s is known: %s", (host, isKnown) => {
    expect(site.isKnownHost(requestWith(host === undefined ? {} : { headers: { host } }))).toBe(isKnown);
  });
});

describe("a page", () => {
  const host = "app.example";
  const page = (headers: Readonly<Record<string, string>>, isTls = true, site = new Site({})) =>
    site.isOwnPage(requestWith({ isTls, headers: { host, ...headers } }));

  test("is our own by its origin, with or without the default port", () => {
    expect(page({ origin: "https://app.example" })).toBe(true);
    expect(page({ origin: "https://app.example", host: "app.example:443" })).toBe(true);
    expect(page({ origin: "http://app.example", host: "app.example:80" }, false)).toBe(true);
    expect(page({ origin: "https://app.example:8443" })).toBe(false);
    expect(page({ origin: "https://sub.app.example" })).toBe(false);
  });

  test("over http is not our own if the server has TLS; over https it may be behind a proxy", () => {
    expect(page({ origin: "http://app.example" })).toBe(false);
    expect(page({ origin: "https://app.example" }, false)).toBe(true);
  });

  test("of the public URL is our own for any host that a proxy sends", () => {
    const site = new Site({ publicUrl: "https://hooks.example/in" });
    expect(page({ origin: "https://hooks.example", host: "127.0.0.1:8400" }, false, site)).toBe(true);
    expect(page({ origin: "http://hooks.example", host: "127.0.0.1:8400" }, false, site)).toBe(false);
  });
});
