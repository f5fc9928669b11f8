// What waits, what became of replays, and the success rate: as they are, and the same on every page.
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { startServer } from "../support/servers/start-server.ts";
import { openDashboard, openPortal } from "./render.tsx";
import { createEndpoint, publish, startWithEndpoint } from "./world.ts";

test("the overview says that the backlog waits behind a circuit, instead of that nothing is late", async () => {
  const { server, endpoint } = await startWithEndpoint(500, {
    circuit_breaker: { failures: 1, pause_ms: 3_600_000 },
  });
  await publish(server);
  await eventually("the circuit is open", async () => {
    return (await server.call("GET", endpoint)).json.circuit === "open";
  });
  for (let order = 2; order <= 4; order += 1) await publish(server, order);
  const { ui } = await openDashboard(server, "/");
  await ui.see("4 waiting, none overdue", "Waiting: Circuit open");
  expect(ui.has("No unfinished deliveries.")).toBe(false);
});

test("overview, endpoint and lists of dashboard and portal show the success rate of the stats", async () => {
  const receiver = await startReceiver();
  receiver.answer("/", [200, 500, 200]);
  const server = await startServer();
  const path = await createEndpoint(server, receiver, { retry_policy: "1h" });
  for (let order = 1; order <= 3; order += 1) await publish(server, order, { subject: null });
  let rate: number | null = null;
  await eventually("the attempts are counted", async () => {
    const { attempts } = (await server.call("GET", "/api/v1/stats")).json;
    rate = attempts.success_rate;
    return attempts.success + attempts.failed === 3;
  });
  expect(rate).toBe(2 / 3);
  const shown = "66.6%";
  const { ui } = await openDashboard(server, "/");
  await ui.see(shown);
  await ui.click("Endpoints");
  await ui.see(shown);
  await ui.open((await server.call("GET", path)).json.url);
  await ui.see(`Success rate: ${shown}`);
  const link = await server.call("POST", "/api/v1/tenants/acme/portal-links", {});
  const { ui: portal } = await openPortal(server, link.json.url);
  await portal.see(shown);
  await portal.open((await server.call("GET", path)).json.url);
  await portal.see(`Success rate: ${shown}`);
});

test("a replay shows what became of its deliveries in dashboard and portal, also when it is finished", async () => {
  const { server, receiver } = await startWithEndpoint(400, {
    retry_policy: "1h",
    circuit_breaker: { failures: 0 },
  });
  for (let order = 1; order <= 3; order += 1) await publish(server, order);
  const dead = async () => (await server.call("GET", "/api/v1/deliveries?state=dead")).json.data.length;
  await eventually("three are dead", async () => (await dead()) === 3);
  receiver.answer("/", [200, 500, 400]);
  const { json } = await server.call("POST", "/api/v1/replays", { tenant: "acme", rate: 1_000 });
  const { ui } = await openDashboard(server, `/replays/${json.id}`);
  const shown = "1 delivered, 1 will be retried, 1 dead";
  await ui.see("finished", shown);
  const link = await server.call("POST", "/api/v1/tenants/acme/portal-links", {});
  const { ui: portal } = await openPortal(server, link.json.url);
  await portal.click("Replays");
  await portal.see(shown);
});
