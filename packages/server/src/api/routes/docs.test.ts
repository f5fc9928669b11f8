// The address in the examples of /docs, which people paste into their shells.
import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { Site } from "../session/site.ts";
import { docsRoute } from "./docs.ts";

interface Asked {
  readonly host?: string;
  readonly originalUrl?: string;
  readonly isTls?: boolean;
}

async function addressOn({ host, originalUrl, isTls = false }: Asked, publicUrl?: string): Promise<string> {
  const socket = isTls ? { encrypted: true } : {};
  const request = { url: "/docs", originalUrl, headers: { host }, socket } as unknown as IncomingMessage;
  const { body } = await docsRoute(new Site({ publicUrl })).handle({ request } as never);
  const [, address = ""] = /export POSTHORN_URL=(\S+) /.exec(String(body)) ?? [];
  return address;
}

test.each<[asked: Asked, address: string]>([
  [{ host: "127.0.0.1:9000" }, "http://127.0.0.1:9000"],
  [{ host: "[::1]:9000" }, "http://[::1]:9000"],
  [{ host: "hooks.example", isTls: true }, "https://hooks.example"],
  [{ host: "app.example", originalUrl: "/webhooks/v2/docs?a=1" }, "http://app.example/webhooks/v2"],
])("%j leads to %s", async (asked, address) => {
  expect(await addressOn(asked)).toBe(address);
});

test("the address that was set comes before the one that was asked", async () => {
  expect(await addressOn({ host: "127.0.0.1:9000" }, "https://hooks.example/in/")).toBe(
    "https://hooks.example/in",
  );
});

test.each(["$(reboot)", "a b", "x;y", "<script>", "", undefined])(
  "a host that is none, such as %s, does not get there",
  async (host) => {
    expect(await addressOn(host === undefined ? {} : { host })).toBe("http://…");
    expect(await addressOn({ host: "a.example", originalUrl: `/${host}$(x)/docs` })).toBe("http://a.example");
  },
);
