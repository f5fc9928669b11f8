import { createHash, createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { openReceiver } from "../../../../tests/support/receiver/open-receiver.ts";
import { NOW } from "../../../../tests/support/receiver/signed-delivery.ts";
import type { WebhookEvent } from "../model.ts";
import { type HmacOptions, hmac } from "./hmac.ts";

const secret = "a plain secret, as in a settings file";
const now = String(NOW.getTime() / 1000);
const uuid = "01890a5d-ac96-774b-bcce-b302099a8057";
const idAndType = { id: { pointer: "/id" }, type: { pointer: "/type" } } as const;
const sha256 = (text: string, key: string | Buffer = secret) => createHmac("sha256", key).update(text);
const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");

async function deliver(
  options: Omit<HmacOptions, "secrets"> & Partial<HmacOptions>,
  headers: Readonly<Record<string, string>>,
  body: string,
) {
  const events: WebhookEvent[] = [];
  const { receiver, rejected } = openReceiver({ sources: [hmac({ secrets: [secret], ...options })] });
  receiver.fallback((event) => void events.push(event));
  const request = { method: "POST", url: "/", headers, body: new TextEncoder().encode(body) };
  const { status } = await receiver.receive(request);
  return { status, event: events[0], details: rejected.map(({ detail }) => detail) };
}

const speedPy = { header: "X-SpeedPy-Signature", format: "t={timestamp},v1={signature}", ...idAndType };
const sesMetric = {
  header: "X-SESMetric-Signature",
  timestampHeader: "X-SESMetric-Timestamp",
  ...idAndType,
} as const;
const orientedOs = {
  header: "X-OrientedOS-Signature",
  format: "sha256={signature}",
  id: { header: "X-OrientedOS-Delivery-Id" },
  type: { header: "X-OrientedOS-Event" },
} as const;
const speedPyHeaders = (body: string, at = now) => ({
  "x-speedpy-signature": `t=${at},v1=${sha256(`${at}.${body}`).digest("hex")}`,
});
const sesMetricHeaders = (body: string, at = now) => ({
  "x-sesmetric-timestamp": at,
  "x-sesmetric-signature": sha256(`${at}.${body}`).digest("hex"),
});
const orientedOsHeaders = (body: string) => ({
  "x-orientedos-delivery-id": uuid,
  "x-orientedos-event": "job.finished",
  "x-orientedos-signature": `sha256=${sha256(body).digest("hex")}`,
});

test.each(["evt_123", "evt_01J5K3Q6W8Z9X2Y4V7T1R0P3MN", uuid, 42])("the id %s of the body", async (id) => {
  const body = JSON.stringify({ id, type: "delivery", data: { to: "a@example.com" } });
  const expected = { status: 200, event: { id: String(id), type: "delivery", data: JSON.parse(body) } };
  expect(await deliver(sesMetric, sesMetricHeaders(body), body)).toMatchObject(expected);
  expect(await deliver(speedPy, speedPyHeaders(body), body)).toMatchObject(expected);
});

test.each(["9007199254740993", "12345678901234567890", "12345678901234567891", "1e400"])(
  "the number %s, which JSON.parse rounds, is an id of its own",
  async (id) => {
    const options = { ...sesMetric, id: { pointer: "/a~1b/1/id" } } as const;
    for (const name of ["a/b", "\\u0061/b"]) {
      const body = `\ufeff {"type": "delivery", "a/b": 1, "${name}": [{"id": 1}, {"x": "}", "id" : ${id} }]}`;
      expect(await deliver(options, sesMetricHeaders(body), body)).toMatchObject({ event: { id } });
    }
  },
);

test("an id and a type in headers, with a bare body", async () => {
  const body = '{"event": "job.finished", "job_id": 7}';
  expect(await deliver(orientedOs, orientedOsHeaders(body), body)).toMatchObject({
    status: 200,
    event: { source: "hmac", id: uuid, type: "job.finished", data: { job_id: 7 } },
  });
  const { "x-orientedos-delivery-id": _, ...without } = orientedOsHeaders(body);
  expect(await deliver(orientedOs, without, body)).toMatchObject({
    status: 400,
    details: ["There is no id in the header X-OrientedOS-Delivery-Id."],
  });
});

test("the digest of the body as the id, a fixed type, and a part of the body as data", async () => {
  const body = '{"items": [{"a/b": 1}]}';
  const options = {
    ...orientedOs,
    id: "digest",
    type: { fixed: "message" },
    data: { pointer: "/items/0/a~1b" },
  } as const;
  expect(await deliver(options, orientedOsHeaders(body), body)).toMatchObject({
    status: 200,
    event: { id: digestOf(body), type: "message", data: 1 },
  });
});

test("a changed body, another secret, and a missing header are 401", async () => {
  const body = '{"id": "evt_1", "type": "a"}';
  const headers = speedPyHeaders(body);
  expect((await deliver(speedPy, headers, body.replace("evt_1", "evt_2"))).status).toBe(401);
  expect((await deliver({ ...speedPy, secrets: ["another"] }, headers, body)).status).toBe(401);
  expect((await deliver({ ...speedPy, secrets: ["another", secret] }, headers, body)).status).toBe(200);
  expect((await deliver(speedPy, {}, body)).status).toBe(401);
  expect((await deliver(speedPy, { "x-speedpy-signature": `v1=${"0".repeat(64)}` }, body)).details).toEqual([
    "The header X-SpeedPy-Signature is not written as t={timestamp},v1={signature} is.",
  ]);
});

test.each([
  [sesMetric, sesMetricHeaders],
  [speedPy, speedPyHeaders],
] as const)("the timestamp may differ by the tolerance of the source and no more", async (options, sign) => {
  const body = '{"id": "evt_1", "type": "a"}';
  const statusAfter = async (seconds: number, toleranceSeconds?: number) => {
    const headers = sign(body, String(Number(now) - seconds));
    return (await deliver({ ...options, toleranceSeconds }, headers, body)).status;
  };
  expect(await statusAfter(300)).toBe(200);
  expect(await statusAfter(301)).toBe(401);
  expect(await statusAfter(-301)).toBe(401);
  expect(await statusAfter(600, 600)).toBe(200);
  expect(await statusAfter(601, 600)).toBe(401);
});

test("algorithms, encodings, and secrets of every encoding", async () => {
  const key = Buffer.from("00ff10".repeat(30), "hex");
  const body = '{"id": "evt_1", "type": "a"}';
  for (const algorithm of ["sha256", "sha512", "sha1"] as const) {
    for (const encoding of ["hex", "base64"] as const) {
      const headers = { "X-Signature": createHmac(algorithm, key).update(body).digest(encoding) };
      const options = { header: "X-Signature", algorithm, encoding, ...idAndType };
      const secrets = [
        { secrets: [new Uint8Array(key)] },
        { secrets: [key.toString("hex")], secretEncoding: "hex" },
        { secrets: [key.toString("base64")], secretEncoding: "base64" },
        { secrets: [`whsec_${key.toString("base64")}`], secretEncoding: "base64" },
      ] as const;
      for (const secret of secrets)
        expect((await deliver({ ...options, ...secret }, headers, body)).status).toBe(200);
    }
  }
});

test("a signed id, a list of signatures, and other formats of time", async () => {
  const body = '{"type": "a"}';
  const at = NOW.toISOString();
  const options = {
    header: "webhook-signature",
    format: "v1,{signature}",
    timestampHeader: "webhook-timestamp",
    timestampFormat: "rfc3339",
    content: "v1:{id}.{timestamp}.{body}",
    encoding: "base64",
    id: { header: "webhook-id" },
    type: { pointer: "/type" },
  } as const;
  const signature = sha256(`v1:${uuid}.${at}.${body}`).digest("base64");
  const headers = {
    "webhook-id": uuid,
    "webhook-timestamp": at,
    "webhook-signature": `v2,x v1,${signature}`,
  };
  expect(await deliver(options, headers, body)).toMatchObject({ status: 200, event: { id: uuid } });
  expect((await deliver(options, { ...headers, "webhook-id": "other" }, body)).status).toBe(401);
});

test("another body under the same id is 422, unless the source says that bodies differ", async () => {
  const statuses = async (hasStableBody: boolean) => {
    const source = hmac({ secrets: [secret], ...speedPy, hasStableBody });
    const { receiver } = openReceiver({ sources: [source], onConflict: null });
    receiver.fallback(() => {});
    const send = async (attempt: number) => {
      const body = JSON.stringify({ id: "evt_1", type: "a", attempt });
      const request = { method: "POST", url: "/", headers: speedPyHeaders(body) };
      return (await receiver.receive({ ...request, body: new TextEncoder().encode(body) })).status;
    };
    return [await send(1), await send(2)];
  };
  expect(await statuses(true)).toEqual([200, 422]);
  expect(await statuses(false)).toEqual([200, 200]);
});

const minimal = { secrets: [secret], header: "X-Signature", ...idAndType };
test.each<[what: string, options: object, message: string]>([
  ["an unknown option", { headr: "x" }, 'hmac() has no option "headr". Did you mean header?'],
  ["no header", { header: undefined }, "`header` of hmac() must be the name of a header"],
  ["no id", { id: undefined }, 'hmac() needs `id`: { header: "X-Event-Id" }'],
  ["no type", { type: "order.paid" }, "hmac() needs `type`"],
  ["an empty type", { type: { fixed: "" } }, "`type` of hmac() must be a type"],
  ["a type that is not set", { type: { fixed: undefined } }, "`type` of hmac() must be a type"],
  ["an id in two places", { id: { header: "X-Id", pointer: "/id" } }, "has a header and a pointer"],
  ["a path that is no pointer", { id: { pointer: "id" } }, "a JSON Pointer such as /event/id"],
  ["a wrong format", { format: "sha256=" }, "`format` of hmac() must be such as sha256={signature}"],
  ["a timestamp that is not signed", { timestampHeader: "X-At", content: "{body}" }, "protects nothing"],
  ["no timestamp to sign", { content: "{timestamp}.{body}" }, "add `timestampHeader`"],
  ["two timestamps", { timestampHeader: "X-At", format: speedPy.format }, "has two timestamps"],
  ["an ambiguous content", { timestampHeader: "X-At", content: "{timestamp}{body}" }, "`content` of hmac()"],
  ["a signed id in the body", { content: "{id}.{body}" }, "so `id` must be a header"],
  ["an unknown algorithm", { algorithm: "md5" }, "Expected one of: sha256, sha512, sha1."],
  ["an unknown encoding", { encoding: "base32" }, "Expected one of: hex, base64."],
  ["a secret in another encoding", { secretEncoding: "hex" }, "in the `secretEncoding` hex"],
  ["a public key", { secrets: ["whpk_AAAA"] }, "secrets[0] of hmac() is not a shared secret"],
  ["a tolerance of 0", { toleranceSeconds: 0 }, "`toleranceSeconds` of hmac()"],
])("%s is rejected when the source is created", (_, options, message) => {
  expect(() => hmac({ ...minimal, ...options })).toThrow(message);
});
