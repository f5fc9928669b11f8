// The delivery contract in dashboard and portal, under settings that differ from the defaults.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { startServer } from "../support/servers/start-server.ts";
import { openDashboard, openPortal } from "./render.tsx";

const settings = {
  headerPrefix: "X-OrientedOS",
  signatureSchemes: ["sha256"],
  userAgent: "OrientedOS-Webhooks/1.0",
  timeoutMs: 4_000,
  retryPolicy: "100ms,100ms,1h",
  retryOn: "every",
  circuitFailures: 0,
} as const;

test("the contract states the deployment's settings, and none that are not in effect", async () => {
  const server = await startServer({ started: false, posthorn: settings });
  const { ui } = await openDashboard(server, "/contract");
  await ui.see(
    "Return 2xx within 4.0 s.",
    "X-OrientedOS-Signature",
    "OrientedOS-Webhooks/1.0",
    "Verify signatures: sha256",
    "During a rotation the header has the signature with the old secret, and X-OrientedOS-Signature-Next",
    "Not signed: only remembered event ids prevent a replay.",
    /200–299delivered/,
    /300–409, .*retried by the schedule below/,
    /410not retried, and the endpoint is disabled/,
    "At most 4 attempts.",
    "90 ms – 110 ms",
    "54m – 1h 6m",
    "Failures do not pause deliveries.",
    "The id is in the header X-OrientedOS-Id or the member id of the body.",
  );
  expect(ui.text()).not.toMatch(/X-Webhook|five minutes|10 seconds|t-v1/);
  await ui.fill("Programming language", "Go");
  await ui.see("func IsAuthentic(", 'headers.Get("X-OrientedOS-Signature")');
  await ui.fill("Language", "de");
  await ui.see("Antworten Sie innerhalb von 4,0 s mit 2xx.", "Signaturen prüfen: sha256");
});

test("an endpoint shows the contract of its own settings", async () => {
  const server = await startServer({ started: false, posthorn: settings });
  const { path } = await server.newEndpoint({
    timeout_ms: 30_000,
    ordering: "fifo",
    fifo_on_dead: "hold",
    rate_limit: 7,
    retry_policy: { gaps: [] },
    signature: { schemes: ["rfc9421", "standard-webhooks"] },
  });
  const { ui } = await openDashboard(server, path.replace("/api/v1", ""));
  await ui.click("Contract");
  await ui.see(
    "Return 2xx within 30s.",
    "The signature covers method, URL, content type",
    'headers.get("Content-Digest")',
    /Content-Digestdigest of the body/,
    /Signature-Inputwhat each signature covers/,
    "{id}.{timestamp}.{body}",
    "Failed deliveries are not retried.",
    "A dead delivery holds its subject",
    "At most 7 per second.",
  );
});

test("code to verify requests follows the chosen scheme and header prefix", async () => {
  const server = await startServer({ started: false, posthorn: settings });
  const { ui } = await openDashboard(server, "/verify");
  await ui.see("Verify signatures: sha256", "X-OrientedOS-Signature");
  await ui.fill("Signature scheme", "slack");
  await ui.see("Verify signatures: slack", "v0:{timestamp}:{body}", "libraries for slack can verify them");
  await ui.fill("Signature scheme", "two-headers");
  await ui.fill("Header prefix", "X-Shop");
  await ui.see("Verify signatures: two-headers", "X-Shop-Signature");
});

test("the code of deployment and endpoint takes a secret in the chosen encoding, in dashboard and portal", async () => {
  const server = await startServer({ started: false, posthorn: settings });
  const { path } = await server.newEndpoint({}, "acme");
  const { ui } = await openDashboard(server, `${path.replace("/api/v1", "")}?tab=contract`);
  await ui.see('createHmac("sha256", key)', "const key = secret;");
  await ui.fill("Encoding of the secret", "hex");
  await ui.see('const key = Buffer.from(secret, "hex");', "the secret, decoded from hexadecimal");

  const { json } = await server.call("POST", "/api/v1/tenants/acme/portal-links", {});
  const portal = await openPortal(server, json.url);
  await portal.ui.click("How deliveries work");
  await portal.ui.see("const key = secret;");
  await portal.ui.fill("Encoding of the secret", "base64");
  await portal.ui.see('Buffer.from(secret.replace(/^whsec_/, ""), "base64")');
  expect(portal.path()).toBe("/contract?secret_encoding=base64");
});

test("code that is chosen by scheme follows the encoding, and keys of a pair have none", async () => {
  const server = await startServer({ started: false, posthorn: settings });
  const { ui } = await openDashboard(server, "/verify?secret_encoding=hex");
  await ui.see('const key = Buffer.from(secret, "hex");');
  await ui.fill("Signature scheme", "discord");
  await ui.see("Verify signatures: discord", "publicKey");
  expect(ui.text()).not.toContain("Encoding of the secret");
});

test("a pasted request is verified with the deployment's header prefix", async () => {
  const server = await startServer({ started: false, posthorn: settings });
  const { ui } = await openDashboard(server, "/verify");
  await ui.see("Verify signatures: sha256");
  const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  const signature = createHmac("sha256", secret).update('{"a":1}').digest("hex");
  await ui.fill("Request", `X-OrientedOS-Signature: sha256=${signature}\n\n{"a":1}`);
  await ui.fill("Secret", secret);
  await ui.click("Verify");
  await ui.see("sha256: Valid signature");
});
