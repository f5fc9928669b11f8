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

test("with one, an event that fits is admitted without a read", async () => {
  const type = {
    name: "order.paid",
    apiVersion: "1",
    schema: '{"type":"object"}',
    redact: [],
    isDeleted: false,
  };
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
