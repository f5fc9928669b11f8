// The catalogue in a real browser: types made, refused at their place, taken over from OpenAPI, written out again.
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { expectFitToShow, openDashboard } from "../support/dashboard.ts";
import { startServer } from "../support/start-server.ts";

const schema = {
  type: "object",
  properties: { amount: { type: "number" }, card: { type: "string" } },
  required: ["amount"],
};

test("a type is made, an example that does not fit is refused at its field, and another version is added", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: "http://127.0.0.1:4999/orders",
    events: ["order.*"],
  });
  const page = await openDashboard(server, "/catalogue");
  await page.getByText("The catalogue is empty").waitFor();
  await page.getByRole("button", { name: "New event type" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("order.paid");
  await dialog.getByLabel("Description").fill("An order was paid");
  await dialog.getByLabel("JSON Schema of the data").fill(JSON.stringify(schema));
  await dialog.getByLabel("Example", { exact: true }).fill('{"card":"4242"}');
  await dialog.getByLabel("Redacted paths").fill("/card");
  await dialog.getByRole("button", { name: "Save" }).click();
  const example = dialog.getByLabel("Example", { exact: true });
  await expect.poll(() => example.getAttribute("aria-invalid")).toBe("true");
  await expectFitToShow(page, "catalogue-edit");
  await example.fill('{"amount":5,"card":"4242"}');
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "order.paid" }).waitFor();
  await page.getByText("http://127.0.0.1:4999/orders").waitFor();
  await page.getByRole("listitem").filter({ hasText: "/card" }).waitFor();
  await expectFitToShow(page, "catalogue-type");

  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Version").fill("2");
  await dialog.getByLabel("Deprecated").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => page.getByRole("combobox", { name: "Version" }).inputValue()).toBe("2");
  await page.getByText("deprecated", { exact: true }).waitFor();
  const { json } = await server.call("GET", "/api/v1/event-types/order.paid?api_version=1");
  expect(json).toMatchObject({ versions: ["1", "2"], deprecated: false, redact: ["/card"] });
  await page.getByRole("button", { name: "Delete version" }).click();
  await dialog.getByRole("button", { name: "Delete version" }).click();
  await page.getByText("Version deleted.").waitFor();
  await expect.poll(() => page.getByRole("table").locator("tbody tr").count()).toBe(1);
});

test("an OpenAPI document is taken over after a look at what would change, and the catalogue is written out", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/event-types/order.paid", { schema });
  const { json: exported } = await server.call("GET", "/api/v1/event-types/export");
  const document = JSON.stringify(exported).replaceAll("order.paid", "order.sent");
  const page = await openDashboard(server, "/catalogue");
  await page.getByRole("button", { name: "Import" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("File").setInputFiles({
    name: "openapi.json",
    mimeType: "application/json",
    buffer: Buffer.from(document),
  });
  await dialog.getByRole("button", { name: "Preview" }).click();
  const preview = dialog.getByRole("region", { name: "Changes" });
  await preview.getByText("order.sent").waitFor();
  expect(await preview.textContent()).toContain("new");
  expect((await server.call("GET", "/api/v1/event-types/order.sent")).status).toBe(404);
  await expectFitToShow(page, "catalogue-import");
  await dialog.getByRole("button", { name: "Import" }).click();
  await page.getByRole("link", { name: "order.sent" }).waitFor();
  await expectFitToShow(page, "catalogue");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export OpenAPI" }).click(),
  ]);
  const written = JSON.parse(await readFile(await download.path(), "utf8"));
  expect(Object.keys(written.webhooks)).toEqual(["order.paid-1", "order.sent-1"]);
});
