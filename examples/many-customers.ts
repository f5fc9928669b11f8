// Posthorn for many customers, over its API: a catalogue, a key for your product, a customer with an endpoint of
// their own, an event, and what became of it. Run it against `npm start`, or any server whose admin key you have.
import { createClient } from "@posthorn/client";

const url = process.env.POSTHORN_URL ?? "http://127.0.0.1:8400";
const admin = createClient({ url, key: process.env.POSTHORN_API_KEY ?? "" });

// What you publish: checked against the schema from now on, and /card/number is masked wherever people look.
await admin.eventTypes.put({
  name: "invoice.paid",
  body: {
    description: "An invoice was paid in full",
    schema: {
      type: "object",
      required: ["invoice", "total"],
      properties: {
        invoice: { type: "string" },
        total: { type: "number", minimum: 0 },
        card: { type: "object", properties: { number: { type: "string" } } },
      },
    },
    redact: ["/card/number"],
  },
});

// A key for the part of your product that publishes: it can do nothing else. It is shown this once, so a second run of
// this program has to make another, and takes the first one back.
const { data: keys } = await admin.keys.list();
for (const { id, name } of keys) if (name === "billing") await admin.keys.revoke({ key: id });
const { key } = await admin.keys.create({ body: { name: "billing", scopes: ["events:publish"] } });

// A customer, one of their people, and where they want which events. The secret is shown this once.
await admin.tenants.put({ tenant: "acme", body: { name: "Acme Inc." } });
await admin.members.put({
  tenant: "acme",
  user: "anna",
  body: { role: "owner", email: "anna@acme.example" },
});
const receiver = new URL(process.env.RECEIVER_URL ?? `${url}/sink/billing`).href; // as an endpoint shows it
const { data: endpoints } = await admin.endpoints.list({ tenant: "acme" });
if (!endpoints.some((endpoint) => endpoint.url === receiver)) {
  const { id, secret } = await admin.endpoints.create({
    tenant: "acme",
    body: { url: receiver, events: ["invoice.*"], filter: { data: { total: { $gte: 10 } } } },
  });
  console.log(`${id} verifies with ${secret}`);
}

const billing = createClient({ url, key });
const published = await billing.events.publish({
  body: {
    tenant: "acme",
    type: "invoice.paid",
    subject: "invoice-1",
    data: { invoice: "invoice-1", total: 19.9, card: { number: "4242 4242 4242 4242" } },
    idempotency_key: "invoice-1-paid",
  },
});
const event = (published as { id: string }).id;
console.log(`published ${event}`);

// A token for Anna: she sees what is her tenant's, as long as she is a member.
const token = await admin.members.createToken({ tenant: "acme", user: "anna" });
const anna = createClient({ url, key: token.key });
const { deliveries, not_matched } = await anna.events.get({ event });
console.log(`${deliveries.length} delivered or on its way, ${not_matched.length} endpoints did not want it`);
