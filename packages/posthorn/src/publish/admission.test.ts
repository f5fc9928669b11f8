import { expect, test } from "vitest";
import { Catalogue } from "../catalogue/catalogue.ts";
import { DeclaredTypes } from "../catalogue/declared-types.ts";
import { CheckedJson } from "../event/validate.ts";
import { Admission } from "./admission.ts";

/** The catalogue of a started process, which is kept fresh elsewhere. */
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
  const admission = new Admission({
    catalogue,
    declared,
    schema: "posthorn",
    nowMs: () => 0,
    apiVersion: "1",
  });
  return { admission, reads: () => reads };
}

/** Invalid JSON, so parsing it would throw. */
const unparsable = new CheckedJson(Buffer.from("{"));
const input = { tenant: "acme", type: "order.paid", rawData: unparsable };

test("without registered types an event is admitted synchronously, without parsing it", async () => {
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

test("with a registered type, data that is already parsed is admitted synchronously and not parsed again", async () => {
  const { admission } = await admissionWith([type]);
  const parsed = () => ({ ...input, rawData: new CheckedJson(Buffer.from("{"), {}) });
  expect(admission.admit(parsed())).toMatchObject({ event: { type: "order.paid" } });
  expect(admission.admitAll([parsed(), parsed()])).toHaveLength(2);
});

test("an admitted event does not keep its parsed data in memory, with or without a catalogue", async () => {
  for (const types of [[], [type]]) {
    const { admission } = await admissionWith(types);
    const [one, other] = [1, 2].map(() => new CheckedJson(Buffer.from("{}"), {}));
    await admission.admit({ ...input, rawData: one as CheckedJson });
    await admission.admitAll([{ ...input, rawData: other as CheckedJson }]);
    expect([one?.takeValue(), other?.takeValue()]).toEqual([undefined, undefined]);
  }
});
