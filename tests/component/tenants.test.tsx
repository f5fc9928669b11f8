// Tenants in the dashboard: created, given members and endpoints, deactivated, deleted.
import { waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { sharedServer, startServer } from "../support/servers/start-server.ts";
import { openDashboard, openPortal } from "./render.tsx";

const server = sharedServer({ started: false });

test("a tenant is created and gets an endpoint", async () => {
  const empty = await startServer({ started: false });
  const { ui } = await openDashboard(empty, "/tenants");
  await ui.see("No tenants yet");
  const dialog = await ui.openDialog("New tenant");
  await dialog.fill("ID", "acme");
  await dialog.fill("Name", "Acme <i>Ltd</i>");
  await dialog.click("Create");
  await ui.see("No members yet", "Acme <i>Ltd</i>");
  const endpoint = await ui.openDialog("New endpoint");
  await endpoint.fill("URL", "ftp://example.com");
  await endpoint.click("Create");
  await endpoint.rejected("URL");
  await endpoint.fill("URL", "http://127.0.0.1:4999/in");
  await endpoint.click("Create");
  await endpoint.see("whsec_");
  await endpoint.click("Close");
  await ui.see("http://127.0.0.1:4999/in", "No attempts yet");
});

test("a member is added, gets another role and is removed", async () => {
  const { ui } = await openDashboard(server, `/tenants/${await server.newTenant()}`);
  const member = await ui.openDialog("Add member");
  await member.fill("User", "anna");
  await member.fill("Email", "anna@example.com");
  await member.click("Save");
  const edit = await (await ui.row("anna@example.com")).openDialog("Edit");
  await edit.fill("Role", "owner");
  await edit.click("Save");
  await (await ui.row("anna@example.com")).see("owner");
  await (await (await ui.row("anna@example.com")).openDialog("Remove")).click("Remove");
  await ui.see("No members yet");
});

test("a tenant is deactivated, and undo activates it again", async () => {
  const tenant = await server.newTenant();
  const isActive = async () => (await server.call("GET", `/api/v1/tenants/${tenant}`)).json.is_active;
  const { ui } = await openDashboard(server, "/tenants");
  await ui.click(`Deactivate ${tenant}`);
  await ui.see(`${tenant} is inactive. Deliveries to its endpoints are paused.`);
  expect(await isActive()).toBe(false);
  await ui.click(/^Undo/);
  await ui.see("Undone.");
  expect(await isActive()).toBe(true);
});

test("deleting a tenant requires its id", async () => {
  const tenant = await server.newTenant();
  const { ui, path } = await openDashboard(server, `/tenants/${tenant}`);
  const dialog = await ui.openDialog("Delete");
  expect((await dialog.control("Delete")).getAttribute("aria-disabled")).toBe("true");
  await dialog.fill(`Type ${tenant} to confirm`, tenant);
  await dialog.click("Delete");
  await ui.see(`Tenant ${tenant} deleted.`);
  await waitFor(() => expect(path()).toBe("/tenants"));
  expect((await server.call("GET", `/api/v1/tenants/${tenant}`)).status).toBe(404);
});

test("a portal link opens the portal of the tenant", async () => {
  const tenant = await server.newTenant();
  const { ui } = await openDashboard(server, `/tenants/${tenant}`);
  const dialog = await ui.openDialog("Open portal");
  await dialog.click("Create link");
  await dialog.see(/Valid once, expires in 4m/);
  const link = document.querySelector("[role=dialog] code")?.textContent ?? "";
  const portal = await openPortal(server, link);
  await portal.ui.see("Add the URL of your receiver");
});

test("a tenant that was deleted in the meantime is not recreated by its page", async () => {
  const tenant = await server.newTenant();
  const { ui } = await openDashboard(server, `/tenants/${tenant}`);
  await ui.control("Deactivate");
  await server.call("DELETE", `/api/v1/tenants/${tenant}`);
  await ui.click("Deactivate");
  await ui.see(/no tenant/i);
  expect((await server.call("GET", `/api/v1/tenants/${tenant}`)).status).toBe(404);
});
