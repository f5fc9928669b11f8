// Turns an object of the library into the JSON of a response. The response schema says which fields are sent and what
// they contain, so a field that the contract does not list never leaves the server.

import { type CamelCase, camelCase } from "@posthorn/wire";
import { z } from "zod";
import { unwrapped } from "./input/issues.ts";

/** A value of the API as the library returns it: camelCase names, times as dates, and text possibly as bytes. */
export type FromLibrary<Value> = unknown extends Value
  ? unknown
  : Value extends string
    ? Value | Date | Uint8Array
    : Value extends readonly (infer Item)[]
      ? readonly FromLibrary<Item>[]
      : Value extends object
        ? { readonly [Name in keyof Value as CamelCase<Name>]: FromLibrary<Value[Name]> }
        : Value;

/** Returns `value` with the fields and names of the schema. */
export function present<Schema extends z.ZodType>(
  schema: Schema,
  value: FromLibrary<z.output<Schema>>,
): z.output<Schema> {
  return presented(schema, value) as z.output<Schema>;
}

function presented(given: z.core.$ZodType, value: unknown): unknown {
  if (value === null || typeof value !== "object" || value instanceof Date) return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  const schema = unwrapped(given);
  if (schema instanceof z.ZodArray)
    return (value as readonly unknown[]).map((item) => presented(schema.element, item));
  if (schema instanceof z.ZodUnion) return presented(branchOf(schema, value), value);
  if (!(schema instanceof z.ZodObject)) return value;
  const result: Record<string, unknown> = {};
  for (const { name, property, field } of fieldsOf(schema)) {
    const inner = (value as Record<string, unknown>)[property];
    if (inner !== undefined) result[name] = presented(field, inner);
  }
  return result;
}

/** The first alternative that is an object whose required fields are all present. */
function branchOf(union: z.ZodUnion, value: object): z.core.$ZodType {
  const objects = union.options.map(unwrapped).filter((option) => option instanceof z.ZodObject);
  return (
    objects.find((option) =>
      fieldsOf(option).every(({ property, field }) => property in value || field instanceof z.ZodOptional),
    ) ?? z.unknown()
  );
}

interface Field {
  readonly name: string;
  readonly property: string;
  readonly field: z.core.$ZodType;
}

const knownFields = new WeakMap<z.ZodObject, readonly Field[]>();

function fieldsOf(schema: z.ZodObject): readonly Field[] {
  const known = knownFields.get(schema);
  if (known !== undefined) return known;
  const fields = Object.entries(schema.shape).map(([name, field]) => ({
    name,
    property: camelCase(name),
    field,
  }));
  knownFields.set(schema, fields);
  return fields;
}
