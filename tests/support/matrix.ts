// Generated matrices run in part in `npm test` and completely in `npm run test:all`.

/** True in `npm test`. A test that is too long for it belongs in a file named `*.slow.test.ts`. */
export const isQuick = process.env.QUICK_TESTS === "1";

/** Returns all values; in `npm test` only one, the next one for each row: every row and every value still occurs. */
export function rotate<Value>(values: readonly Value[], row: number): readonly Value[] {
  return isQuick ? values.slice(row % values.length, (row % values.length) + 1) : values;
}

/** The part of a suite that one of several variants runs in `npm test`: each test runs for one index out of `of`. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

/** Returns whether the next test belongs to the share; always true in `npm run test:all`. */
export function sharePicker({ index, of }: Share = { index: 0, of: 1 }): () => boolean {
  let count = 0;
  return () => !isQuick || count++ % of === index % of;
}
