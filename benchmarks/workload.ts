// What every part of the benchmark agrees on: 200 endpoints of 50 tenants, and one event for exactly one of them.
// Each event carries a number, so that generator and receiver can be compared without looking anything up.

export const tenantCount = 50;
export const endpointsPerTenant = 4;
export const endpointCount = tenantCount * endpointsPerTenant;
export const batchSize = 50;

/** Bytes of the JSON in `data`: the size of a common order event, and the one all earlier measurements used. */
const dataBytes = 939;

export const digits = 8;
export const numberMark = '"number":"';

export function tenantOf(endpoint: number): string {
  return `tenant-${String(Math.floor(endpoint / endpointsPerTenant)).padStart(2, "0")}`;
}

/** Every endpoint of a tenant asks for a type of its own. */
export function typeOf(endpoint: number): string {
  return `order.kind_${endpoint % endpointsPerTenant}`;
}

/** The JSON of `data`, with the number written where `writeDigits` can put another one. */
export function eventData(number: number): string {
  const head = `{${numberMark}${String(number).padStart(digits, "0")}","order":{"currency":"EUR","total":"129.90","lines":[`;
  const line = `{"sku":"AB-1234-XL","quantity":2,"price":"64.95"}`;
  const tail = `]},"note":"`;
  const lines = Array.from({ length: 12 }, () => line).join(",");
  const note = "x".repeat(dataBytes - head.length - lines.length - tail.length - 2);
  return `${head}${lines}${tail}${note}"}`;
}

/** Of the JSON in `data`. */
export const dataSchema = {
  type: "object",
  required: ["number", "order"],
  properties: {
    number: { type: "string", minLength: digits, maxLength: digits },
    order: {
      type: "object",
      required: ["currency", "total", "lines"],
      properties: {
        currency: { enum: ["EUR", "USD"] },
        total: { type: "string" },
        lines: {
          type: "array",
          items: {
            type: "object",
            required: ["sku", "quantity", "price"],
            properties: {
              sku: { type: "string" },
              quantity: { type: "integer", minimum: 1 },
              price: { type: "string" },
            },
          },
        },
      },
    },
    note: { type: "string" },
  },
  additionalProperties: false,
} as const;

export function eventJson(endpoint: number, number: number): string {
  return `{"tenant":"${tenantOf(endpoint)}","type":"${typeOf(endpoint)}","data":${eventData(number)}}`;
}

export function writeDigits(buffer: Uint8Array, offset: number, length: number, value: number): void {
  let rest = value;
  for (let at = offset + length - 1; at >= offset; at -= 1) {
    buffer[at] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

export function readDigits(buffer: Uint8Array, offset: number): number {
  let value = 0;
  for (let at = offset; at < offset + digits; at += 1) value = value * 10 + (buffer[at] as number) - 0x30;
  return value;
}
