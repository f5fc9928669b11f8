// A typical installation: three customers, a day of deliveries, and one failing receiver.
import { onTestFinished } from "vitest";
import { createPool } from "./postgres.ts";
import { startServer, type TestServer } from "./start-server.ts";
import { startStatusReceiver } from "./status-receiver.ts";

export interface BusyShop {
  readonly server: TestServer;
  /** Its receiver returns HTTP 500. */
  readonly failing: { readonly id: string; readonly url: string };
}

const TYPES = {
  "invoice.paid": { invoice: "INV-2041", customer: "C-118", total: 249.9, currency: "EUR" },
  "order.shipped": { order: "O-7731", carrier: "DHL", tracking: "JD014600006228974315", items: 3 },
  "customer.created": { customer: "C-131", name: "Ada Example", plan: "team" },
};

export async function startBusyShop(): Promise<BusyShop> {
  const works = await startStatusReceiver(200, '{"ok":true}');
  const broken = await startStatusReceiver(500, '{"error":"could not connect to the orders database"}');
  const server = await startServer();
  const { call } = server;
  for (const [name, example] of Object.entries(TYPES))
    await call("PUT", `/api/v1/event-types/${name}`, { description: ABOUT[name], example });
  const addTo = async (tenant: string, name: string, url: string, settings: object) => {
    await call("PUT", `/api/v1/tenants/${tenant}`, { name });
    const input = { url, events: ["*"], retry_policy: "5m,15m,1h,6h", ...settings };
    return (await call("POST", `/api/v1/tenants/${tenant}/endpoints`, input)).json;
  };
  const acme = await addTo("acme", "Acme Inc.", `${works.url}webhooks`, { description: "Order service" });
  const globex = await addTo("globex", "Globex", `${works.url}hooks/posthorn`, { description: "ERP" });
  const failing = await addTo("globex", "Globex", `${broken.url}billing/events`, {
    description: "Billing",
    events: ["invoice.*"],
  });
  await addTo("initech", "Initech", `${works.url}in`, { description: "Data warehouse" });
  await fillDay(server, [acme.id, globex.id], failing.id);
  for (const tenant of ["acme", "initech", "globex"]) {
    for (const [type, data] of Object.entries(TYPES))
      await call("POST", "/api/v1/events", { tenant, type, data, subject: Object.values(data)[0] });
  }
  return { server, failing };
}

const ABOUT: Readonly<Record<string, string>> = {
  "invoice.paid": "A customer paid an invoice in full.",
  "order.shipped": "A parcel was handed to the carrier.",
  "customer.created": "Somebody signed up.",
};

/** Writes statistics as workers would: a wave over the hour, a day per endpoint, and failures of one in the last hours. */
async function fillDay(server: TestServer, well: readonly string[], failing: string): Promise<void> {
  const pool = createPool(server.connectionString);
  onTestFinished(() => pool.end());
  const add = (width: number, ago: number, endpoint: string, success: number, failed: number) =>
    pool.query(
      `insert into posthorn.activity
       select $1::integer, to_timestamp(floor(extract(epoch from now()) / $1::integer) * $1::integer - $2::integer * $1::integer),
         $3::uuid, $4::integer, $5::integer, 0, $6::integer[]
       on conflict do nothing`,
      [width, ago, endpoint, success, failed, latenciesOf(success + failed, ago)],
    );
  const minutes = Array.from({ length: 60 }, (_, minute) => {
    const success = Math.round(420 + 120 * Math.sin(minute / 9) + 45 * Math.sin(minute * 1.7));
    return add(60, minute, INSTALLATION, success, minute < 20 ? 6 + (minute % 5) : minute % 3);
  });
  const ofDay = (width: number, count: number) =>
    Array.from({ length: count }, (_, ago) => {
      const hoursAgo = (ago * width) / 3_600;
      const busy = Math.round(
        (width / 3_600) * (900 + 500 * Math.sin(hoursAgo / 4) + 90 * Math.sin(ago * 1.7)),
      );
      const isBad = hoursAgo < 3;
      return [
        ...well.map((id) => add(width, ago, id.slice(3), busy, ago % 2)),
        add(
          width,
          ago,
          failing.slice(3),
          Math.round(busy * (isBad ? 0.1 : 0.5)),
          isBad ? Math.round(busy * 0.4) : ago % 2,
        ),
      ];
    }).flat();
  await Promise.all([...minutes, ...ofDay(300, 288), ...ofDay(3_600, 24)]);
}

const INSTALLATION = "00000000-0000-0000-0000-000000000000";
/** A latency histogram of a hundred attempts: most took between 10 and 100 ms. */
const SPREAD = [0, 0, 0, 0, 2, 6, 14, 26, 24, 14, 7, 4, 2, 1];
const RANGES = 24;

function latenciesOf(attempts: number, ago: number): number[] {
  return Array.from({ length: RANGES }, (_, range) => {
    const sway = 1 + (range < 10 ? 0 : 0.6) * Math.sin(ago / 7 + range);
    return Math.round(((SPREAD[range] ?? 0) * sway * attempts) / 100);
  });
}
