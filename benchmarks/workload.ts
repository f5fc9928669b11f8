// The common workload: 200 endpoints of 50 tenants, and events that each match one endpoint. Each event has a number that
// relates the generator's data to the receiver's.

export const tenantCount = 50;
export const endpointsPerTenant = 4;
export const endpointCount = tenantCount * endpointsPerTenant;
export const batchSize = 50;

/** Bytes of the JSON in `data`. */
const dataBytes = 939;

export const digits = 8;
export const numberMark = '"number":"';

export function tenantOf(endpoint: number): string {
  return `tenant-${String(Math.floor(endpoint / endpointsPerTenant)).padStart(2, "0")}`;
}

/** Each endpoint of a tenant subscribes to its own type. */
export function typeOf(endpoint: number): string {
  return `order.kind_${endpoint % endpointsPerTenant}`;
}

/** Returns the JSON of `data`; `writeDigits` can replace its number. */
export function eventData(number: number): string {
  const head = `{${numberMark}${String(number).padStart(digits, "0")}","order":{"currency":"EUR","total":"129.90","lines":[`;
  const line = `{"sku":"AB-1234-XL","quantity":2,"price":"64.95"}`;
  const tail = `]},"note":"`;
  const lines = Array.from({ length: 12 }, () => line).join(",");
  const note = "x".repeat(dataBytes - head.length - lines.length - tail.length - 2);
  return `${head}${lines}${tail}${note}"}`;
}

/** The schema of `data`. */
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
