// Tenants in a real browser: made, given members and an endpoint, looked at through their portal, switched off, deleted.
import { expect, test } from "vitest";
import { openPage } from "../support/browser.ts";
import { expectFitToShow, openDashboard } from "../support/dashboard.ts";
import { startServer } from "../support/start-server.ts";

test("a tenant is made, gets a member and an endpoint, and both are changed", async () => {
  const server = await startServer({ started: false });
  const page = await openDashboard(server, "/tenants");
  await page.getByText("No tenants yet").waitFor();
  await page.getByRole("button", { name: "New tenant" }).click();
  await page.getByLabel("Id", { exact: true }).fill("acme");
  await page.getByLabel("Name", { exact: true }).fill("Acme <i>Ltd</i>");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "Acme <i>Ltd</i>" }).waitFor();

  await page.getByRole("button", { name: "Add member" }).click();
  await page.getByLabel("User").fill("anna");
  await page.getByLabel("Role").selectOption("owner");
  await page.getByLabel("Email").fill("no address");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByLabel("Email").fill("anna@example.com");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  const members = page.getByRole("table", { name: "Members" });
  await members.getByText("anna@example.com").waitFor();
  await members.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Role").selectOption("member");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await members.getByRole("cell", { name: "member", exact: true }).waitFor();

  await page.getByRole("button", { name: "New endpoint" }).click();
  await page.getByRole("dialog").getByLabel("URL").fill("ftp://example.com");
  await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  await expect
    .poll(() => page.getByRole("dialog").getByLabel("URL").getAttribute("aria-invalid"))
    .toBe("true");
  await expectFitToShow(page, "endpoint-new");
  await page.getByRole("dialog").getByLabel("URL").fill("http://127.0.0.1:4999/in");
  await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  expect(await page.getByRole("dialog").locator("code").textContent()).toMatch(/^whsec_/);
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await page.getByRole("heading", { name: "http://127.0.0.1:4999/in" }).waitFor();
  await page.goBack();
  await page.getByRole("table", { name: "Endpoints" }).getByText("http://127.0.0.1:4999/in").waitFor();
  await expectFitToShow(page, "tenant");

  await members.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("No members yet").waitFor();
});

test("a tenant is switched off and on again, and deleted when it is empty", async () => {
  const server = await startServer({ started: false });
  for (const id of ["acme", "rivals"]) await server.call("PUT", `/api/v1/tenants/${id}`);
  const page = await openDashboard(server, "/tenants");
  await page.getByRole("button", { name: "Deactivate acme" }).click();
  await page.getByText("acme is inactive. Deliveries to its endpoints are paused.").waitFor();
  expect((await server.call("GET", "/api/v1/tenants/acme")).json.is_active).toBe(false);
  await expectFitToShow(page, "tenants");
  await page.getByRole("button", { name: "Undo u" }).click();
  await page.getByRole("button", { name: "Deactivate acme" }).waitFor();
  expect((await server.call("GET", "/api/v1/tenants/acme")).json.is_active).toBe(true);
  await page.getByRole("link", { name: "rivals" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByLabel("Type rivals to confirm").fill("rivals");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("Tenant rivals deleted.").waitFor();
  expect((await server.call("GET", "/api/v1/tenants/rivals")).status).toBe(404);
});

test("the portal is opened as the customer by a link that works once", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const page = await openDashboard(server, "/tenants/acme");
  await page.getByRole("button", { name: "Open portal" }).click();
  await page.getByRole("button", { name: "Create link" }).click();
  await page.getByText(/Valid once, expires in 4m/).waitFor();
  await expectFitToShow(page, "tenant-portal");
  const url = String(await page.getByRole("dialog").locator("code").textContent());
  const { page: portal } = await openPage(url, { locale: "en-GB" });
  await portal.getByRole("heading", { name: "Endpoints" }).waitFor();
});
