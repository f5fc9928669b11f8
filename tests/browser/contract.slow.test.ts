// The delivery contract in a browser: an endpoint's own in the dashboard, the deployment's in the portal.
import { expect, test } from "vitest";
import { openDashboard, openPage, screenshot } from "../support/processes/browser.ts";
import { startServer } from "../support/servers/start-server.ts";

const wide = { viewport: { width: 1280, height: 900 } };

test("a customer reads the contract in the portal, and copies code for another language", async () => {
  const server = await startServer({
    posthorn: {
      headerPrefix: "X-OrientedOS",
      signatureSchemes: ["sha256"],
      timeoutMs: 4_000,
      retryOn: "every",
    },
  });
  await server.newTenant({}, "acme");
  const { json } = await server.call("POST", "/api/v1/tenants/acme/portal-links", {});
  const { page } = await openPage(json.url, { locale: "en-GB", ...wide });
  await page.getByRole("link", { name: "How deliveries work" }).click();
  await page.getByText("Return 2xx within 4.0 s.").waitFor();
  await page.getByLabel("Programming language").selectOption("Python");
  await page.getByText('headers.get("X-OrientedOS-Signature", "")').waitFor();
  expect(await page.locator("main").textContent()).not.toContain("X-Webhook");
  await screenshot(page, "contract", { fullPage: true });
});

test("an operator reads the contract of an endpoint with its own settings", async () => {
  const server = await startServer();
  const { path } = await server.newEndpoint({ signature: { schemes: ["stripe"] }, timeout_ms: 2_500 });
  const page = await openDashboard(server, path.replace("/api/v1", ""), wide);
  await page.getByRole("button", { name: "Contract" }).click();
  await page.getByText("Return 2xx within 2.5 s.").waitFor();
  await page.getByText("Stripe-Signature").first().waitFor();
  await screenshot(page, "endpoint-contract", { fullPage: true });
});
