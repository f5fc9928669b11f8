// Endpoints in a real browser: secret rotation, and a test event without a stream.
import { verify } from "@posthorn/wire";
import { expect, test } from "vitest";
import { expectFitToShow, openDashboard } from "../support/dashboard.ts";
import { startServer } from "../support/start-server.ts";
import { withEndpoint } from "../support/with-endpoint.ts";

test("a secret is rotated, deliveries carry both signatures, and the old secret is revoked", async () => {
  const server = await startServer();
  const {
    receiver,
    path,
    secret: old,
  } = await withEndpoint(server, {
    signature: { schemes: ["standard-webhooks"] },
  });
  const page = await openDashboard(server, `${path}?tab=secrets`);
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByLabel("Keep the old secret for").selectOption("3600");
  await expectFitToShow(page, "endpoint-rotate");
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  const fresh = String(await page.getByRole("dialog").locator("code").textContent());
  expect(fresh).toMatch(/^whsec_/);
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await page.getByText(/Expires in 59m/).waitFor();
  await expectFitToShow(page, "endpoint-secrets");

  const send = async (count: number) => {
    await server.call("POST", `/api/v1${path}/test`);
    await receiver.received(count);
    const request = receiver.requestsTo("/in")[count - 1];
    const headers = request?.headers as Record<string, string>;
    const signatures = String(headers["webhook-signature"]).split(" ");
    const isBy = async (secret: string) =>
      (
        await verify({
          scheme: "standard-webhooks",
          headers,
          body: request?.body as Buffer,
          secrets: [secret],
        })
      ).ok;
    return { signatures: signatures.length, byOld: await isBy(old), byFresh: await isBy(fresh) };
  };
  expect(await send(1)).toEqual({ signatures: 2, byOld: true, byFresh: true });
  await page.getByRole("button", { name: "Revoke" }).click();
  await page
    .getByRole("dialog")
    .getByLabel(/Type .* to confirm/)
    .fill(new URL(receiver.url).host);
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("Secret revoked.").waitFor();
  expect(await send(2)).toEqual({ signatures: 1, byOld: false, byFresh: true });
});

test("the outcome of a test event is shown without the live stream", async () => {
  const server = await startServer();
  const { receiver, path } = await withEndpoint(server);
  const page = await openDashboard(server, `${path}?tab=test`);
  await page.route("**/live", (route) => route.abort());
  await page.reload();
  // the first poll sees the delivery in flight
  const seen = page.getByText("in flight", { exact: true }).waitFor();
  receiver.answer("/in", { until: seen, body: "thank you" });
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText("thank you").waitFor();
});
