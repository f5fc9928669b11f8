// Sets up webhooks for customers with the typed client: catalogue, key, tenant, member, endpoint and event. Run it against
// `npm start` or any server whose admin key you have.
import { createClient } from "@posthorn/client";

const url = process.env.POSTHORN_URL ?? "http://127.0.0.1:8400";
const admin = createClient({ url, key: process.env.POSTHORN_API_KEY ?? "" });

// Events of this type are checked against the schema, and /card/number is redacted for people.
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

// A key that can only publish. It is shown once, so a second run replaces it.
const { data: keys } = await admin.keys.list();
for (const { id, name } of keys) if (name === "billing") await admin.keys.revoke({ key: id });
const { key } = await admin.keys.create({ body: { name: "billing", scopes: ["events:publish"] } });

// A customer with a member and an endpoint. The secret is shown once.
await admin.tenants.put({ tenant: "acme", body: { name: "Acme Inc." } });
await admin.members.put({
  tenant: "acme",
  user: "anna",
  body: { role: "owner", email: "anna@acme.example" },
});
const receiver = new URL(process.env.RECEIVER_URL ?? `${url}/sink/billing`).href; // normalised, as the API returns it
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

// A token for Anna, valid while she is a member. It reads only her tenant.
const token = await admin.members.createToken({ tenant: "acme", user: "anna" });
const anna = createClient({ url, key: token.key });
const { deliveries, not_matched } = await anna.events.get({ event });
console.log(`${deliveries.length} deliveries, ${not_matched.length} endpoints did not match`);
