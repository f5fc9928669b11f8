// What a delivery waits for besides its time, in a real browser, and in German.
import { expect, test } from "vitest";
import { expectFitToShow, openDashboard } from "../support/dashboard.ts";
import { startServer } from "../support/start-server.ts";
import { startStatusReceiver } from "../support/status-receiver.ts";

test("a delivery that something holds says what, until it is let go", async () => {
  const receiver = await startStatusReceiver(500, "broken");
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const { json: endpoint } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: receiver.url,
    events: ["*"],
    retry_policy: "20m",
  });
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: {} });
  const { json: deliveries } = await server.call("GET", "/api/v1/deliveries");
  const page = await openDashboard(server, `/deliveries/${deliveries.data[0].id}`);
  await page.getByText(/Next attempt in \d+m/).waitFor();

  const path = `/api/v1/tenants/acme/endpoints/${endpoint.id}`;
  await server.call("PATCH", path, { handshake: { origin: "hooks.example.com" } });
  await page.getByText("On hold: the receiver has not consented to webhooks.").waitFor();
  await server.call("PATCH", path, { handshake: null });
  await page.getByText(/Next attempt in \d+m/).waitFor();

  await server.call("POST", `${path}/disable`);
  await page.getByText("On hold: the endpoint is disabled.").waitFor();
  expect(await page.getByText("Next attempt in").count()).toBe(0);
  await expectFitToShow(page, "delivery-held");

  await server.call("PUT", "/api/v1/tenants/acme", { is_active: false });
  await page.getByText("On hold: the tenant is inactive.").waitFor();
  await page.getByLabel("Language").selectOption("de");
  await page.getByText("Angehalten: Der Mandant ist inaktiv.").waitFor();

  await server.call("PUT", "/api/v1/tenants/acme", { is_active: true });
  await page.getByText("Angehalten: Der Endpunkt ist deaktiviert.").waitFor();
});
