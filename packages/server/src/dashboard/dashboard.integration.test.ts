// The pages of the dashboard and the portal as browsers request them: from our own server, in applications, and under
// unknown host names.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express from "express";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { get, listen, send } from "../../../../tests/support/servers/http.ts";
import {
  adminKey,
  codeIn,
  signIn,
  startServer,
  type TestServer,
  visitor,
} from "../../../../tests/support/servers/start-server.ts";
import { createHandler } from "../api/handler.ts";

const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const staticFolder = mkdtempSync(join(tmpdir(), "posthorn-static-"));
let server: TestServer;

beforeAll(async () => {
  mkdirSync(join(staticFolder, "assets"));
  const write = (name: string, text: string) => writeFileSync(join(staticFolder, name), text);
  const page = (title: string) =>
    `<!doctype html><html lang="en"><head><title>${title}</title><script type="module" src="assets/a.js"></script></head><body></body></html>`;
  write("index.html", page("operators"));
  write("portal.html", page("customers"));
  write("assets/index-DiwrgTda.js", "plain");
  write("assets/index-DiwrgTda.js.br", "as brotli");
  write("assets/index-DiwrgTda.js.gz", "as gzip");
  write("assets/font-B1cdEf2g.woff2", "font");
  write("assets/.hidden.js", "outside of the assets");
  write("assets/notes.md", "not to be served");
  write("secret.js", "outside of the assets");
  server = await startServer({ started: false, staticFolder, atEnd: afterAll });
});
afterAll(() => rmSync(staticFolder, { recursive: true, force: true }));

describe("pages", () => {
  test.each([
    ...["/", "/first-run", "/tail", "/events", "/events/evt_1", "/deliveries", "/deliveries/dlv_1"],
    ...["/retry-queue", "/dead-letters", "/replays", "/replays/rpl_1", "/tenants", "/tenants/a%20b"],
    ...["/endpoints", "/tenants/acme/endpoints/ep_1", "/catalogue", "/catalogue/order.paid", "/keys"],
    ...["/audit", "/system", "/contract", "/sign-in", "/verify", "/deliveries?state=dead", "/events/"],
    ...["/portal", "/portal/", "/portal/endpoints/ep_1", "/portal/add", "/portal/logs", "/portal/verify"],
    ...["/portal/deliveries/dlv_1", "/portal/catalogue", "/portal/catalogue/order.paid"],
    ...["/portal/replays", "/portal/contract"],
  ])("%s is a screen", async (path) => {
    const { status, text } = await server.visit("GET", path, undefined, html);
    const title = path.startsWith("/portal") ? "customers" : "operators";
    expect([status, text]).toEqual([200, expect.stringContaining(`<title>${title}</title>`)]);
  });

  test.each([
    ...["/nowhere", "/portal/keys", "/portal/endpoints/a/b", "/api/v1/nowhere", "/events/a/b"],
    ...["/static/index.html", "/index.html", "/portal.html", "//events", "/tenants/acme/endpoints"],
  ])("%s is not a screen", async (path) => {
    expect((await get(server.url + path, html)).status).toBe(404);
  });

  test.each([
    ["/nowhere", "operators"],
    ["/portal/keys", "customers"],
  ])("%s is a page that says so for browsers, and an error for programs", async (path, title) => {
    const page = await server.visit("GET", path, undefined, html);
    expect([page.status, page.headers.get("content-type"), page.headers.get("etag")]).toEqual([
      404,
      "text/html; charset=utf-8",
      null,
    ]);
    expect(page.text).toContain(`<title>${title}</title>`);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect((await server.visit("GET", path)).json).toMatchObject({ code: "not_found" });
    expect((await server.visit("POST", path, {}, html)).json).toMatchObject({ code: "not_found" });
    expect((await server.visit("GET", `/api/v1${path}`, undefined, html)).json.code).toBe("not_found");
  });

  test("programs get a description at /, and no screens", async () => {
    const home = await server.visit("GET", "/");
    expect(home.text).toContain("This server delivers webhooks");
    expect((await server.visit("GET", "/events")).status).toBe(404);
    expect((await server.visit("POST", "/events", {}, html)).status).toBe(404);
  });

  test("a page allows only its own scripts, styles and frames, and sends no referrer", async () => {
    const { headers, text } = await server.visit("GET", "/", undefined, html);
    expect(text).toContain('<head><base href="/"><title>');
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "font-src 'self'; base-uri 'self'; form-action 'self'; require-trusted-types-for 'script'; frame-ancestors 'none'",
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "x-frame-options": "DENY",
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
    });
    expect(headers.get("access-control-allow-origin")).toBeNull();
    const head = await server.visit("HEAD", "/", undefined, html);
    expect([head.status, head.text]).toEqual([200, ""]);
    for (const name of ["etag", "content-length", "content-security-policy"])
      expect(head.headers.get(name)).toBe(headers.get(name));
  });

  test("an unchanged page is not sent again", async () => {
    const { headers } = await server.visit("GET", "/", undefined, html);
    const etag = headers.get("etag") as string;
    const again = await server.visit("GET", "/", undefined, { ...html, "if-none-match": etag });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    expect(again.headers.get("content-security-policy")).toContain("default-src 'none'");
    const other = await server.visit("GET", "/portal", undefined, { ...html, "if-none-match": etag });
    expect(other.status).toBe(200);
  });

  test("a page under an unknown host name is refused with the setting to change", async () => {
    for (const path of ["/", "/portal"]) {
      const answer = await get(server.url + path, { ...html, host: "evil.example" });
      expect(answer.status).toBe(421);
      expect(answer.body).toContain("POSTHORN_ALLOWED_HOSTS");
      expect(answer.body).not.toContain("<script");
    }
  });

  test("an unbuilt clone serves a page with build instructions", async () => {
    const unbuilt = await startServer({ started: false, staticFolder: join(staticFolder, "nowhere") });
    const answer = await unbuilt.visit("GET", "/", undefined, html);
    expect([answer.status, answer.text]).toEqual([
      503,
      expect.stringContaining("<code>npm run build</code>"),
    ]);
    expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect((await unbuilt.call("GET", "/api/v1/tenants")).status).toBe(200);
  });
});

describe("assets", () => {
  test.each<[accepted: string, text: string, encoding: string | undefined]>([
    ["gzip, deflate, br", "as brotli", "br"],
    ["gzip", "as gzip", "gzip"],
    ["br;q=0, gzip;q=0.5", "as gzip", "gzip"],
    ["identity", "plain", undefined],
    ["", "plain", undefined],
  ])("are sent in an encoding of %j, and cached for a year", async (accepted, text, encoding) => {
    const answer = await get(`${server.url}/assets/index-DiwrgTda.js`, { "accept-encoding": accepted });
    expect([answer.status, answer.body, answer.headers["content-encoding"]]).toEqual([200, text, encoding]);
    expect(answer.headers).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": "text/javascript; charset=utf-8",
      "x-content-type-options": "nosniff",
      vary: "Accept-Encoding",
    });
  });

  test("have a content type by their name, and no body for HEAD", async () => {
    const font = await send(`${server.url}/assets/font-B1cdEf2g.woff2`, { method: "HEAD" });
    expect([font.status, font.body, font.headers["content-type"], font.headers["content-length"]]).toEqual([
      200,
      "",
      "font/woff2",
      "4",
    ]);
  });

  test.each([
    "/assets/none-DiwrgTda.js",
    "/assets/index-DiwrgTda.js.br",
    "/assets/notes.md",
    "/assets/",
    "/assets/../secret.js",
    "/assets/..%2fsecret.js",
    "/assets/..%5csecret.js",
    "/assets/%2e%2e/secret.js",
    "/assets/....//secret.js",
    "/assets/..js",
    "/assets/.hidden.js",
    "/assets/a%00.js",
    "/assets/index-DiwrgTda.js/",
    "/secret.js",
  ])("do not include %s", async (path) => {
    const answer = await get(server.url + path);
    expect([path, answer.status]).toEqual([path, 404]);
    expect(answer.body).not.toContain("outside of the assets");
  });
});

describe("the portal", () => {
  test("can be embedded by the configured origins, with a cookie for frames; the dashboard cannot", async () => {
    const origins = ["https://app.example", "https://admin.example:8443"];
    const framed = await startServer({
      started: false,
      staticFolder,
      publicUrl: "https://hooks.example",
      portal: { origins, name: "Acme", logoUrl: "/logo.svg", accent: "#0a7d55", appearance: "dark" },
    });
    const policyOf = async (path: string) =>
      (await framed.visit("GET", path, undefined, html)).headers.get("content-security-policy");
    expect(await policyOf("/portal")).toContain(
      "frame-ancestors https://app.example https://admin.example:8443",
    );
    expect(await policyOf("/")).toContain("frame-ancestors 'none'");
    const portal = await framed.visit("GET", "/portal", undefined, html);
    expect(portal.headers.get("x-frame-options")).toBeNull();
    expect(portal.headers.get("cross-origin-resource-policy")).toBeNull();
    await framed.call("PUT", "/api/v1/tenants/acme");
    const { json } = await framed.call("POST", "/api/v1/tenants/acme/portal-links");
    const { answer } = await signIn(framed, { code: codeIn(json.url) });
    expect(answer.headers.get("set-cookie")).toMatch(
      /^__Host-posthorn-portal=phs_\w+; Path=\/; Max-Age=\d+; HttpOnly; Secure; SameSite=None; Partitioned$/,
    );
    expect(answer.json.theme).toEqual({
      name: "Acme",
      logo_url: "/logo.svg",
      accent: "#0a7d55",
      appearance: "dark",
    });
    const { answer: operator } = await signIn(framed, { key: adminKey });
    expect(operator.headers.get("set-cookie")).toMatch(
      /^__Host-posthorn=phs_\w+; Path=\/; Max-Age=\d+; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  test("has its theme and origins in an escaped meta element before anyone signs in", async () => {
    const name = `"><script>alert('x')</script>`;
    const themed = await startServer({ started: false, staticFolder, portal: { name, accent: "#0a7d55" } });
    const { text } = await themed.visit("GET", "/portal", undefined, html);
    const [, content = ""] = /<meta name="posthorn-portal" content="([^"]*)">/.exec(text) ?? [];
    const theme = content.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
    expect(JSON.parse(theme)).toEqual({ origins: [], name, accent: "#0a7d55", appearance: "auto" });
    expect(text).not.toContain("<script>");
    expect((await themed.visit("GET", "/", undefined, html)).text).not.toContain("posthorn-portal");
  });
});

describe("below a path", () => {
  test("two mounted handlers have their own pages, sessions and links, and pass on unknown paths", async () => {
    const mounted = () => createHandler(server.hooks, { adminKey, staticFolder });
    const url = await listen(
      express()
        .use("/webhooks", mounted())
        .use("/internal/hooks.v2", mounted())
        .use((_request, response) => void response.status(404).send("from the application")),
    );
    for (const mount of ["/webhooks", "/internal/hooks.v2"]) {
      for (const path of ["", "/", "/events/evt_1", "/portal/logs"]) {
        const { status, body } = await get(url + mount + path, html);
        expect([mount + path, status, /<base href="[^"]*">/.exec(body)?.[0]]).toEqual([
          mount + path,
          200,
          `<base href="${mount}/">`,
        ]);
      }
      expect((await get(`${url}${mount}/assets/index-DiwrgTda.js`)).status).toBe(200);
      const signedIn = await send(`${url}${mount}/api/v1/session`, {
        headers: { ...visitor, "content-type": "application/json" },
        body: JSON.stringify({ key: adminKey }),
      });
      const [cookie = ""] = signedIn.headers["set-cookie"] ?? [];
      expect(cookie).toMatch(new RegExp(`^posthorn=phs_\\w+; Path=${mount}; Max-Age`));
      const headers = { ...visitor, cookie: cookie.split(";")[0] };
      expect((await get(`${url}${mount}/api/v1/tenants`, headers)).status).toBe(200);
      const refused = await get(`${url}${mount}/api/v1/tenants`);
      expect(JSON.parse(refused.body).instance).toBe(`${mount}/api/v1/tenants`);
      await server.call("PUT", "/api/v1/tenants/acme");
      const link = await send(`${url}${mount}/api/v1/tenants/acme/portal-links`, {
        headers: { authorization: `Bearer ${adminKey}` },
      });
      expect(JSON.parse(link.body).url).toContain(`${url}${mount}/portal#code=`);
    }
    const elsewhere = await get(`${url}/webhooks/nowhere`, html);
    expect([elsewhere.status, elsewhere.body]).toEqual([404, "from the application"]);
    expect((await get(`${url}/webhooks/assets/none-DiwrgTda.js`)).body).toBe("from the application");
  });

  test("that a proxy removes, pages and cookies use the public URL", async () => {
    const behind = await startServer({
      started: false,
      staticFolder,
      publicUrl: "https://app.example/hooks",
    });
    const { text } = await behind.visit("GET", "/tail", undefined, html);
    expect(text).toContain('<base href="/hooks/">');
    const fromPage = { ...visitor, origin: "https://app.example", "sec-fetch-site": "same-origin" };
    const { answer, headers } = await signIn(behind, { key: adminKey }, fromPage);
    expect(answer.headers.get("set-cookie")).toMatch(
      /^__Secure-posthorn=phs_\w+; Path=\/hooks; Max-Age=\d+; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect((await behind.visit("GET", "/api/v1/tenants", undefined, headers)).status).toBe(200);
    const plain = { ...headers, origin: "http://app.example" };
    expect((await behind.visit("GET", "/api/v1/tenants", undefined, plain)).status).toBe(403);
  });
});
