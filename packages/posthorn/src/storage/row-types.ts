// Parsers of result columns, passed with every query, so that changes to the driver's global parsers have no effect.
// Statements return times as milliseconds and arrays as JSON.

const parsers: Record<number, (text: string) => unknown> = {
  16: (text) => text === "t",
  17: (text) => Buffer.from(text.slice(2), "hex"),
  20: Number,
  21: Number,
  23: Number,
  114: (text) => JSON.parse(text),
  700: Number,
  701: Number,
  3802: (text) => JSON.parse(text),
};

const asIs = (text: string): string => text;

export const rowTypes = {
  getTypeParser: (oid: number): ((text: string) => unknown) => parsers[oid] ?? asIs,
};
