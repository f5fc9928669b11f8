// The page of a delivery: what is wrong, its attempts, and their requests and responses.
import { waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import type { TestServer } from "../support/servers/start-server.ts";
import { openDashboard, openPortal } from "./render.tsx";
import { publish, startWithEndpoint } from "./world.ts";

async function deliveryWith(server: TestServer, attempts: number, state: string): Promise<string> {
  return await waitFor(async () => {
    const { json } = await server.call("GET", "/api/v1/deliveries");
    expect(json.data[0]).toMatchObject({ state, attempt_count: attempts });
    return json.data[0].id as string;
  });
}

const count = (text: string, part: string) => text.split(part).length - 1;

test("the title names event type and endpoint, and one banner says cause, effect and remedy once", async () => {
  const { server, receiver } = await startWithEndpoint(500, { retry_policy: "20m,1h" });
  await publish(server);
  const id = await deliveryWith(server, 1, "failed");
  const { ui } = await openDashboard(server, `/deliveries/${id}`);
  await ui.see(`order.paid → ${new URL(receiver.url).host}`, id, "1 of 3 attempts used", "Attempt 2");
  await waitFor(() => expect(document.querySelectorAll("[role=note]")).toHaveLength(1));
  await ui.see("X-Webhook-Signature");
  const banner = document.querySelector("[role=note]")?.textContent ?? "";
  const sentences = [
    "The receiver returned HTTP 500.",
    /Next attempt in \d+m/.exec(banner)?.[0] ?? "no next attempt",
    "Check its logs for this event id.",
  ];
  for (const sentence of sentences) {
    expect([sentence, count(banner, sentence)]).toEqual([sentence, 1]);
    expect([sentence, count(ui.text(), sentence)]).toEqual([sentence, 1]);
  }
});

test("an exhausted delivery is explained by its last failure, and waiting is kept out of the network phases", async () => {
  const { server } = await startWithEndpoint(503, { retry_policy: "300ms" });
  await publish(server);
  const id = await deliveryWith(server, 2, "dead");
  const { ui } = await openDashboard(server, `/deliveries/${id}`);
  await ui.see(
    "The receiver returned HTTP 503.",
    "All attempts of the retry policy failed.",
    "automatic retry",
    /For the retry\d+(?: ms|\.\d s|s)/,
    "For its turn",
    "First byte",
  );
  const network = [...document.querySelectorAll("table[aria-label=Phases] tbody")].at(-1);
  expect(network?.textContent).toMatch(/^Network/);
  expect(network?.textContent).not.toContain("For the retry");
});

test("a JSON body is formatted without changing a number, and its exact bytes are one click away", async () => {
  const body = '{"error":{"id":12345678901234567890,"path":"cus/tomer"}}';
  const { server } = await startWithEndpoint({ status: 422, body });
  await publish(server);
  const id = await deliveryWith(server, 1, "dead");
  const { ui } = await openDashboard(server, `/deliveries/${id}`);
  await ui.see("Response · HTTP 422", '\n    "id": 12345678901234567890,\n    "path": "cus/tomer"\n');
  const response = () => document.querySelector("section[aria-label='Response body']")?.textContent;
  expect(response()).not.toBe(body);
  const toggles = [...document.querySelectorAll("button")].filter(
    ({ textContent }) => textContent === "Show exact bytes",
  );
  toggles.at(-1)?.click();
  await waitFor(() => expect(response()).toBe(body));
});

test("two attempts are compared, and others can be chosen", async () => {
  const { server, receiver } = await startWithEndpoint(
    { status: 500, body: '{"code":1}' },
    { retry_policy: "1h" },
  );
  await publish(server);
  const id = await deliveryWith(server, 1, "failed");
  receiver.answer("/", { status: 500, body: '{"code":2}' });
  await server.call("POST", `/api/v1/deliveries/${id}/retry`);
  await deliveryWith(server, 2, "failed");
  receiver.answer("/", { status: 500, body: '{"code":1}' });
  await server.call("POST", `/api/v1/deliveries/${id}/retry`);
  await deliveryWith(server, 3, "failed");
  const { ui } = await openDashboard(server, `/deliveries/${id}`);
  await ui.click("Compare attempts");
  await ui.see(
    "/codeAttempt 22Attempt 31",
    "X-Webhook-AttemptAttempt 22Attempt 33",
    "Request bodyNo differences.",
  );
  await ui.fill("First attempt", "1");
  await ui.see("TriggerAttempt 1new eventAttempt 3manual retry", "Response bodyNo differences.");
  await ui.click("Show all attempts");
  await ui.see("Attempt 1HTTP 500");
});

test("an edited copy is checked against the schema, sent to the endpoint, and marked", async () => {
  const { server, receiver } = await startWithEndpoint();
  const schema = { type: "object", properties: { total: { type: "integer" } } };
  await server.call("PUT", "/api/v1/event-types/order.paid", { schema });
  const data = '{"total":12345678901234567890,"rate":1.0}';
  await server.call("POST", "/api/v1/events", `{"tenant":"acme","type":"order.paid","data":${data}}`);
  const id = await deliveryWith(server, 1, "success");
  const { ui, path, changes } = await openDashboard(server, `/deliveries/${id}`);
  const dialog = await ui.openDialog("Edit and resend …");
  const field = await dialog.field("Data");
  const shown = field.value;
  expect(shown).toBe('{\n  "total": 12345678901234567890,\n  "rate": 1.0\n}');
  await dialog.fill("Data", shown.replace("12345678901234567890", '"1"'));
  await dialog.click("Send copy");
  await dialog.see('"/data/total" must be integer, according to the schema of order.paid');
  await dialog.fill("Data", shown.replace("1.0", "2.0"));
  await dialog.click("Send copy", { times: 2 });
  const [, copy] = await receiver.received(2);
  expect(copy?.body.toString()).toContain('"data":{"total":12345678901234567890,"rate":2.0}}');
  await waitFor(() => expect(path()).not.toBe(`/deliveries/${id}`));
  await ui.see("Edited copy of", "edited copy", "X-Webhook-Edited-From");
  expect(changes.filter((change) => change.endsWith("/resend-edited"))).toHaveLength(2);
});

test("a customer sends an edited copy in the portal, and a member who may only read cannot", async () => {
  const { server, receiver } = await startWithEndpoint();
  await publish(server);
  await deliveryWith(server, 1, "success");
  const link = async (role: string) =>
    (await server.call("POST", "/api/v1/tenants/acme/portal-links", { role })).json.url as string;
  const member = await openPortal(server, await link("member"));
  await member.ui.click("Logs");
  await member.ui.open("order.paid");
  await member.ui.see("X-Webhook-Id");
  expect(member.ui.has("Edit and resend …")).toBe(false);
  const { ui } = await openPortal(server, await link("admin"));
  await ui.click("Logs");
  await ui.open("order.paid");
  const dialog = await ui.openDialog("Edit and resend …");
  await dialog.fill("Data", '{"total":1}');
  await dialog.click("Send copy");
  await receiver.received(2);
  await ui.see("Edited copy of");
});
