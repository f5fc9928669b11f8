import { expect, test } from "vitest";
import { Admission } from "./admission.ts";
import { Catalogue } from "./catalogue/catalogue.ts";
import { DeclaredTypes } from "./catalogue/declared-types.ts";
import { CheckedJson } from "./event/validate.ts";

/** Of a started process: somebody else keeps the catalogue fresh. */
async function admissionWith(types: readonly object[]) {
  let reads = 0;
  const query = async () => {
    reads += 1;
    return [{ catalogue: JSON.stringify({ version: 2, types }) }] as never[];
  };
  const declared = new DeclaredTypes({});
  const catalogue = new Catalogue({ db: { query }, mode: "auto", declared });
  await catalogue.refresh();
  catalogue.keepFresh(true);
  const admission = new Admission({ catalogue, declared, schema: "posthorn", nowMs: () => 0 });
  return { admission, reads: () => reads };
}

/** What nobody parses cannot fail to parse. */
const unparsable = new CheckedJson(Buffer.from("{"));
const input = { tenant: "acme", type: "order.paid", rawData: unparsable };

test("without a registered type an event is admitted at once: nothing is awaited, read or parsed", async () => {
  const { admission, reads } = await admissionWith([]);
  expect(admission.admit(input)).toMatchObject({ event: { type: "order.paid" } });
  expect(admission.admitAll([input])).toHaveLength(1);
  expect(reads()).toBe(1);
});

const type = {
  name: "order.paid",
  apiVersion: "1",
  schema: '{"type":"object"}',
  redact: [],
  isDeleted: false,
};

test("with one, what came parsed is admitted at once and not parsed again", async () => {
  const { admission } = await admissionWith([type]);
  const parsed = () => ({ ...input, rawData: new CheckedJson(Buffer.from("{"), {}) });
  expect(admission.admit(parsed())).toMatchObject({ event: { type: "order.paid" } });
  expect(admission.admitAll([parsed(), parsed()])).toHaveLength(2);
});

test("an admitted event does not hold what it was parsed to, catalogue or not", async () => {
  for (const types of [[], [type]]) {
    const { admission } = await admissionWith(types);
    const [one, other] = [1, 2].map(() => new CheckedJson(Buffer.from("{}"), {}));
    await admission.admit({ ...input, rawData: one as CheckedJson });
    await admission.admitAll([{ ...input, rawData: other as CheckedJson }]);
    expect([one?.takeValue(), other?.takeValue()]).toEqual([undefined, undefined]);
  }
});

test("with one, an event that fits is admitted without a read", async () => {
  const { admission, reads } = await admissionWith([type]);
  const fits = { ...input, rawData: new CheckedJson(Buffer.from("{}")) };
  expect(await admission.admit(fits)).toMatchObject({ event: { type: "order.paid" } });
  expect(await admission.admitAll([fits, fits])).toHaveLength(2);
  expect(reads()).toBe(1);
  await expect(
    admission.admitAll([fits, { ...input, rawData: new CheckedJson(Buffer.from("1")) }]),
  ).rejects.toMatchObject({
    message: "1 of 2 events cannot be published, so none was.",
    problems: [{ pointer: "/1/data" }],
  });
});
