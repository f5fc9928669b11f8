// What came from outside is text on every screen: none of it runs, loads anything, or breaks the page.
import { expect, test } from "vitest";
import { openDashboard } from "../support/dashboard.ts";
import { startServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

const corpus = [
  `<img src=x onerror="window.canary=1">`,
  `<script>window.canary=1</script>`,
  `"><svg onload=window.canary=1>`,
  `javascript:window.canary=1`,
  `<iframe srcdoc="<script>parent.canary=1</script>">`,
  `</pre></script><script>window.canary=1</script>`,
  "`$" + "{window.canary=1}`",
  `{{constructor.constructor('window.canary=1')()}}`,
  `<a href="javascript:window.canary=1">click</a>`,
  `<style>@import 'https://evil.invalid/x.css'</style>`,
  `\u202egnp.exe\u0000\u001b[31m`,
  `<math><mtext></form><form><mglyph><style></math><img src=x onerror=window.canary=1>`,
];

test("a payload, an answer, a name, a subject and a header full of markup stay text everywhere", async () => {
  const all = corpus.join("\n");
  const receiver = await startStatusReceiver(404, all);
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme", { name: corpus[0] });
  const { json: endpoint } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: `${receiver.url}?q=${encodeURIComponent(corpus[0] ?? "")}`,
    description: all.replace("\u0000", ""),
    events: ["*"],
    headers: { "X-Hostile": corpus[1] },
  });
  expect(endpoint.id).toBeDefined();
  const data = Object.fromEntries(
    corpus.map((text, index) => [
      text.replace("\u0000", ""),
      corpus[corpus.length - 1 - index]?.replace("\u0000", ""),
    ]),
  );
  const { json: event } = await server.call("POST", "/api/v1/events", {
    tenant: "acme",
    type: "order.paid",
    subject: corpus[2],
    data,
  });
  await server.call("POST", "/api/v1/keys", { name: corpus[0], scopes: ["events:publish"] });
  await expect.poll(() => receiver.requests.length).toBe(1);
  const page = await openDashboard(server, "/");
  const foreign: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(server.url)) foreign.push(request.url());
  });
  const { json: deliveries } = await server.call("GET", "/api/v1/deliveries");
  const screens: readonly (readonly [path: string, shown: string])[] = [
    [`/events/${event.id}`, "onerror"],
    ["/events", "svg onload"],
    [`/deliveries/${deliveries.data[0].id}`, "onerror"],
    ["/dead-letters", "order.paid"],
    ["/keys", "onerror"],
    ["/audit", "keys.create"],
    ["/tenants", "onerror"],
    ["/tenants/acme", "onerror"],
    [`/tenants/acme/endpoints/${endpoint.id}`, "onerror"],
    ["/endpoints", "acme"],
  ];
  for (const [path, shown] of screens) {
    await page.goto(server.url + path);
    await page.locator("main").getByText(shown).first().waitFor();
    expect(await page.evaluate(() => "canary" in window)).toBe(false);
  }
  expect(foreign).toEqual([]);
});
