// What holds for all screens of tenants, endpoints and the catalogue: an empty list says which kind of empty it is.
import { expect, test } from "vitest";
import { openDashboard } from "../support/dashboard.ts";
import { startServer } from "../support/start-server.ts";

test("whoever may not see tenants is told so, and nothing else", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const { json } = await server.call("POST", "/api/v1/keys", { name: "looks", scopes: ["deliveries:read"] });
  const page = await openDashboard(server, "/tenants", { key: json.key });
  await page.getByText("Access denied").waitFor();
  expect(await page.getByText("acme").count()).toBe(0);
});

test("a filter that leaves nothing can be taken away, which is not the same as having no endpoints", async () => {
  const server = await startServer({ started: false });
  const page = await openDashboard(server, "/endpoints");
  await page.getByText("No endpoints yet").waitFor();
  await server.call("PUT", "/api/v1/tenants/acme");
  await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: "http://127.0.0.1:4999/in",
    events: ["*"],
  });
  await page.goto(`${server.url}/endpoints?which=disabled&tenant=acme`);
  await page.getByText("No results for these filters").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("http://127.0.0.1:4999/in").waitFor();
  expect(new URL(page.url()).search).toBe("");
});

test("the screens speak German to whoever does", async () => {
  const server = await startServer({ started: false });
  const page = await openDashboard(server, "/tenants", { locale: "de-DE" });
  await page.getByText("Noch keine Mandanten").waitFor();
  await page.getByRole("button", { name: "Neuer Mandant" }).click();
  await page.getByRole("dialog").getByLabel("ID", { exact: true }).fill("acme");
  await page.getByRole("dialog").getByRole("button", { name: "Erstellen" }).click();
  await page.getByText("Noch keine Endpunkte").waitFor();
});
