// Rewrites the `$ref`s of a schema that moves to another document. `const` and `enum` contain data and are not changed.
import { isObject } from "@posthorn/wire";
import { MAPS, SCHEMA_LISTS, SCHEMAS } from "./keyword-shapes.ts";

export function mapReferences(schema: unknown, rewrite: (reference: string) => string): unknown {
  if (!isObject(schema)) return schema;
  const inner = (value: unknown) => mapReferences(value, rewrite);
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === "$ref" && typeof value === "string") return [keyword, rewrite(value)];
      if (Array.isArray(value) && SCHEMA_LISTS.includes(keyword)) return [keyword, value.map(inner)];
      if (SCHEMAS.includes(keyword)) return [keyword, inner(value)];
      if (MAPS.includes(keyword) && isObject(value)) {
        return [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one)]))];
      }
      return [keyword, value];
    }),
  );
}
