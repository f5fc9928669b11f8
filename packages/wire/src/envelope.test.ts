import { expect, test } from "vitest";
import {
  ENVELOPE_FIELDS,
  type EnvelopeFields,
  type EnvelopeNames,
  envelope,
  envelopeNameProblems,
  thinEnvelope,
} from "./envelope.ts";

const UUID = "01890a5d-ac96-774b-bcce-b302099a8057";
const FACTS = `{"id":"evt_${UUID}","type":"order.paid","api_version":"2025-01-01","created_at":"2025-06-01T10:00:00.007Z","tenant_id":"t1"`;

function bytesOf(payload: string, changed: Partial<EnvelopeFields> = {}, names?: EnvelopeNames): Uint8Array {
  const fields = {
    id: UUID,
    type: "order.paid",
    apiVersion: "2025-01-01",
    createdAt: new Date("2025-06-01T12:00:00.007+02:00"),
    tenant: "t1",
    subject: null,
    sequence: null,
    payload: new TextEncoder().encode(payload),
    ...changed,
  };
  return envelope(fields, names);
}

function textOf(payload: string, changed?: Partial<EnvelopeFields>, names?: EnvelopeNames): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(payload, changed, names));
}

test("fields may have other names, and keep their order", () => {
  const names = { tenant_id: "team_id", data: "payload", id: "type", type: "event" };
  expect(textOf("1.0", { subject: "s", sequence: 2 }, names)).toBe(
    `{"type":"evt_${UUID}","event":"order.paid","api_version":"2025-01-01",` +
      `"created_at":"2025-06-01T10:00:00.007Z","team_id":"t1","subject":"s","sequence":2,"payload":1.0}`,
  );
  const all = Object.fromEntries(ENVELOPE_FIELDS.map((field) => [field, `x_${field}`]));
  const attributes = { source: "/a" };
  const written = JSON.parse(textOf("1", { subject: "s", sequence: 2, attributes }, all));
  expect(Object.keys(written)).toEqual(ENVELOPE_FIELDS.map((field) => `x_${field}`));
  const thin = thinEnvelope({ id: UUID, type: "order.paid", subject: "s" }, names);
  expect(new TextDecoder().decode(thin)).toBe(`{"type":"evt_${UUID}","event":"order.paid","subject":"s"}`);
});

test.each<[names: Record<string, unknown>, problem: RegExp | null]>([
  [{}, null],
  [{ tenant_id: "team_id" }, null],
  [{ id: "type", type: "id" }, null],
  [{ id: "id" }, null],
  [{ data: "x".repeat(64) }, null],
  [{ data: "x".repeat(65) }, /1 to 64 letters/],
  [{ data: "" }, /1 to 64 letters/],
  [{ data: 'a"b' }, /1 to 64 letters/],
  [{ data: 5 }, /1 to 64 letters/],
  [{ tenantid: "team_id" }, /no field "tenantid"\. Did you mean tenant_id\?/],
  [{ tenant_id: "subject" }, /"subject" twice, for subject and tenant_id/],
  [{ tenant_id: "x", data: "x" }, /"x" twice, for tenant_id and data/],
])("the names %j are checked", (names, problem) => {
  const problems = envelopeNameProblems(names).map(({ message }) => message);
  expect(problems).toEqual(problem === null ? [] : [expect.stringMatching(problem)]);
});

test("a thin envelope has the id, the type and the subject, and no more", () => {
  const thin = (subject: string | null) =>
    new TextDecoder().decode(thinEnvelope({ id: UUID, type: "order.paid", subject }));
  expect(thin("ö-1")).toBe(`{"id":"evt_${UUID}","type":"order.paid","subject":"ö-1"}`);
  expect(thin(null)).toBe(`{"id":"evt_${UUID}","type":"order.paid"}`);
});

test("subject and sequence precede the data", () => {
  expect(textOf("null", { subject: "order-1", sequence: 0 })).toBe(
    `${FACTS},"subject":"order-1","sequence":0,"data":null}`,
  );
});

test.each([
  ["a float that is whole", '{"price":1.0}'],
  ["an integer beyond 2^53", '{"n":12345678901234567890}'],
  ["keys out of order, and twice", '{"b":1,"a":2,"b":3,"10":4,"9":5}'],
  ["escapes, NUL among them", '{"s":"\\u0000\\u00e9\\/\\ud83d"}'],
  ["white space", '{ "a" :\t[ 1 ,\n2 ] }'],
  ["characters of one to four bytes", '{"s":"aé€😀"}'],
  ["an exponent too large for a double", "1e400"],
])("data with %s is unchanged, in an event without subject and sequence", (_, payload) => {
  expect(textOf(payload)).toBe(`${FACTS},"data":${payload}}`);
});

test("data that is not UTF-8 is passed on too", () => {
  const bytes = bytesOf("", { payload: Uint8Array.of(0x22, 0xff, 0x00, 0x22) });
  expect([...bytes.slice(-5)]).toEqual([0x22, 0xff, 0x00, 0x22, 0x7d]);
});

test("quotes, control and non-ASCII characters in the metadata give valid JSON", () => {
  const odd = { tenant: 'a"\\\u0000é😀', subject: "\ud800", type: "ö.ä" };
  const read = JSON.parse(textOf('"x"', odd));
  expect(read).toMatchObject({ tenant_id: odd.tenant, subject: odd.subject, type: odd.type, data: "x" });
});

test("attributes are in a fixed order", () => {
  const extensions = { zz: 1, region: "eu", a: true };
  const attributes = { encoding: "text", extensions, source: "/shop", id: "1" } as const;
  expect(textOf('"x"', { attributes })).toBe(
    `${FACTS},"attributes":{"id":"1","source":"/shop","extensions":{"a":true,"region":"eu","zz":1},"encoding":"text"},"data":"x"}`,
  );
});

test("a field can neither be nor be named __proto__", () => {
  expect(envelopeNameProblems({ id: "__proto__" })).toMatchObject([{ field: "id" }]);
  expect(envelopeNameProblems(JSON.parse('{"__proto__":"x"}'))).toMatchObject([{ field: "__proto__" }]);
});
