// Tenants in the dashboard: created, given members and endpoints, deactivated, deleted.
import { waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { startServer } from "../support/start-server.ts";
import { openDashboard, openPortal } from "./render.tsx";

test("a tenant is created and gets a member with another role and an endpoint", async () => {
  const server = await startServer({ started: false });
  const { ui } = await openDashboard(server, "/tenants");
  await ui.see("No tenants yet");
  await ui.click("New tenant");
  const dialog = await ui.dialog();
  await dialog.fill("Id", "acme");
  await dialog.fill("Name", "Acme <i>Ltd</i>");
  await dialog.click("Create");
  await ui.see("No members yet", "Acme <i>Ltd</i>");

  await ui.click("Add member");
  const member = await ui.dialog();
  await member.fill("User", "anna");
  await member.fill("Email", "anna@example.com");
  await member.click("Save");
  await (await ui.row("anna@example.com")).click("Edit");
  const edit = await ui.dialog();
  await edit.fill("Role", "owner");
  await edit.click("Save");
  await (await ui.row("anna@example.com")).see("owner");
  await (await ui.row("anna@example.com")).click("Remove");
  await (await ui.dialog()).click("Remove");
  await ui.see("No members yet");

  await ui.click("New endpoint");
  const endpoint = await ui.dialog();
  await endpoint.fill("URL", "ftp://example.com");
  await endpoint.click("Create");
  await endpoint.rejected("URL");
  await endpoint.fill("URL", "http://127.0.0.1:4999/in");
  await endpoint.click("Create");
  await endpoint.see("whsec_");
  await endpoint.click("Close");
  await ui.see("http://127.0.0.1:4999/in", "No attempts yet");
});

test("a tenant is deactivated, and undo activates it again", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const isActive = async () => (await server.call("GET", "/api/v1/tenants/acme")).json.is_active;
  const { ui } = await openDashboard(server, "/tenants");
  await ui.click("Deactivate acme");
  await ui.see("acme is inactive. Deliveries to its endpoints are paused.");
  expect(await isActive()).toBe(false);
  await ui.click(/^Undo/);
  await ui.see("Undone.");
  expect(await isActive()).toBe(true);
});

test("deleting a tenant requires its id", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/rivals");
  const { ui, path } = await openDashboard(server, "/tenants/rivals");
  await ui.click("Delete");
  const dialog = await ui.dialog();
  expect((await dialog.control("Delete")).getAttribute("aria-disabled")).toBe("true");
  await dialog.fill("Type rivals to confirm", "rivals");
  await dialog.click("Delete");
  await ui.see("Tenant rivals deleted.");
  await waitFor(() => expect(path()).toBe("/tenants"));
  expect((await server.call("GET", "/api/v1/tenants/rivals")).status).toBe(404);
});

test("a portal link opens the portal of the tenant", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const { ui } = await openDashboard(server, "/tenants/acme");
  await ui.click("Open portal");
  const dialog = await ui.dialog();
  await dialog.click("Create link");
  await dialog.see(/Valid once, expires in 4m/);
  const link = document.querySelector("[role=dialog] code")?.textContent ?? "";
  const portal = await openPortal(server, link);
  await portal.ui.see("Add the URL of your receiver");
});

test("a tenant that was deleted in the meantime is not recreated by its page", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const { ui } = await openDashboard(server, "/tenants/acme");
  await ui.control("Deactivate");
  await server.call("DELETE", "/api/v1/tenants/acme");
  await ui.click("Deactivate");
  await ui.see(/no tenant/i);
  expect((await server.call("GET", "/api/v1/tenants/acme")).status).toBe(404);
});

test("without the permission to read tenants the page shows only that", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const { json } = await server.call("POST", "/api/v1/keys", { name: "reader", scopes: ["deliveries:read"] });
  const { ui } = await openDashboard(server, "/tenants", { key: json.key });
  await ui.see("Access denied");
  expect(document.querySelector("main")?.textContent).not.toContain("acme");
});

test("the pages are available in German", async () => {
  const server = await startServer({ started: false });
  const { ui } = await openDashboard(server, "/tenants", { language: "de" });
  await ui.see("Noch keine Mandanten");
  await ui.click("Neuer Mandant");
  const dialog = await ui.dialog();
  await dialog.fill("ID", "acme");
  await dialog.click("Erstellen");
  await ui.see("Noch keine Endpunkte");
});
