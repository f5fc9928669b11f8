// Where in a JSON schema there are schemas again.
export const SCHEMAS: readonly string[] = [
  "not",
  "if",
  "then",
  "else",
  "items",
  "contains",
  "additionalProperties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contentSchema",
  "additionalItems",
];
export const SCHEMA_LISTS: readonly string[] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
export const MAPS: readonly string[] = [
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
];
