// What a request says about where the server is, and what of it is believed.
import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { mountPath, Site } from "./site.ts";

interface Asked {
  readonly url?: string;
  readonly originalUrl?: string;
  readonly isTls?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

function asked({ url = "/", originalUrl, isTls = false, headers = {} }: Asked): IncomingMessage {
  const socket = isTls ? { encrypted: true } : {};
  return { url, originalUrl, headers, socket } as unknown as IncomingMessage;
}

describe("the path that an application mounted us at", () => {
  test.each<[originalUrl: string | undefined, url: string, mount: string]>([
    [undefined, "//evil.example/portal", ""],
    ["/portal", "/portal", ""],
    ["/webhooks/portal?a=/b", "/portal?a=/b", "/webhooks"],
    ["/webhooks", "/", "/webhooks"],
    ["/webhooks/", "/", "/webhooks"],
    ["/a-b/c.d/~e/tail", "/tail", "/a-b/c.d/~e"],
    // a base of another host, or out of the place where we are, is none
    ["//evil.example/portal", "/portal", ""],
    ["/a//b/portal", "/portal", ""],
    ["/../portal", "/portal", ""],
    ["/a/./portal", "/portal", ""],
    ['/"><script>/portal', "/portal", ""],
    ["/%2f%2fevil.example/portal", "/portal", ""],
    ["/a\\b/portal", "/portal", ""],
  ])("of %s with %s is %j", (originalUrl, url, mount) => {
    expect(mountPath(asked({ url, ...(originalUrl !== undefined && { originalUrl }) }))).toBe(mount);
  });
});

describe("a host", () => {
  const site = new Site({ publicUrl: "https://Hooks.example:8443", allowedHosts: ["Inside.example"] });
  test.each<[host: string, isKnown: boolean]>([
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
  ])("%s is ours: %s", (host, isKnown) => {
    expect(site.isKnownHost(asked({ headers: { host } }))).toBe(isKnown);
  });

  test("that is not given at all is not ours", () => {
    expect(site.isKnownHost(asked({}))).toBe(false);
  });
});

describe("a page", () => {
  const host = "app.example";
  const page = (headers: Readonly<Record<string, string>>, isTls = true, site = new Site({})) =>
    site.isOwnPage(asked({ isTls, headers: { host, ...headers } }));

  test("is ours by its origin, with or without the usual port", () => {
    expect(page({ origin: "https://app.example" })).toBe(true);
    expect(page({ origin: "https://app.example", host: "app.example:443" })).toBe(true);
    expect(page({ origin: "http://app.example", host: "app.example:80" }, false)).toBe(true);
    expect(page({ origin: "https://app.example:8443" })).toBe(false);
    expect(page({ origin: "https://sub.app.example" })).toBe(false);
  });

  test("over http is not that of a server with TLS; one whose TLS somebody else ends may be", () => {
    expect(page({ origin: "http://app.example" })).toBe(false);
    expect(page({ origin: "https://app.example" }, false)).toBe(true);
  });

  test("of the public URL is ours whatever host a proxy asks us by", () => {
    const site = new Site({ publicUrl: "https://hooks.example/in" });
    expect(page({ origin: "https://hooks.example", host: "127.0.0.1:8400" }, false, site)).toBe(true);
    expect(page({ origin: "http://hooks.example", host: "127.0.0.1:8400" }, false, site)).toBe(false);
  });
});
