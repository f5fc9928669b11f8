// The TypeScript type of a JSON Schema. It accepts everything that the schema accepts: what TypeScript cannot express
// (lengths, patterns, `not`, `if`) is left out.
import { isObject } from "@posthorn/wire";

/** Returns the name of the type that a reference stands for. */
export type NameOf = (reference: string) => string;

type Schema = Readonly<Record<string, unknown>>;

/** A type and how it binds: in an array a union needs parentheses, in a union nothing does. */
interface Type {
  readonly text: string;
  readonly kind: "single" | "intersection" | "union";
}

export function schemaType(schema: unknown, nameOf: NameOf): string {
  return typeOf(schema, nameOf).text;
}

const UNKNOWN = single("unknown");

function typeOf(schema: unknown, nameOf: NameOf): Type {
  if (schema === false) return single("never");
  if (!isObject(schema)) return UNKNOWN;
  const each = (list: unknown) => (Array.isArray(list) ? list.map((one) => typeOf(one, nameOf)) : []);
  const { $ref, allOf, anyOf, oneOf } = schema;
  return intersection([
    typeof $ref === "string" ? single(nameOf($ref)) : UNKNOWN,
    ownType(schema, nameOf),
    ...each(allOf),
    ...(anyOf === undefined ? [] : [union(each(anyOf))]),
    ...(oneOf === undefined ? [] : [union(each(oneOf))]),
  ]);
}

/** The type by `const`, `enum` and `type`, without references and combinations. */
function ownType(schema: Schema, nameOf: NameOf): Type {
  if ("const" in schema) return single(literal(schema.const));
  if (Array.isArray(schema.enum)) return union(schema.enum.map((value) => single(literal(value))));
  const names = typeNames(schema);
  if (names.length === 0) return UNKNOWN;
  if (schema.nullable === true) names.push("null");
  return union(names.map((name) => namedType(name, schema, nameOf)));
}

/** Without `type`, the keywords that are about objects or arrays tell what is meant. */
function typeNames(schema: Schema): string[] {
  if (schema.type !== undefined) return [schema.type].flat().map(String);
  const has = (...keywords: readonly string[]) => keywords.some((keyword) => keyword in schema);
  if (has("properties", "required", "additionalProperties", "patternProperties")) return ["object"];
  return has("items", "prefixItems") ? ["array"] : [];
}

function namedType(name: string, schema: Schema, nameOf: NameOf): Type {
  if (name === "object") return objectType(schema, nameOf);
  if (name === "array") return arrayType(schema, nameOf);
  return single(name === "integer" ? "number" : name);
}

function arrayType({ prefixItems, items, minItems = 0 }: Schema, nameOf: NameOf): Type {
  const rest = items === false ? null : inParentheses(typeOf(items, nameOf));
  if (!Array.isArray(prefixItems)) return single(rest === null ? "[]" : `${rest}[]`);
  const first = prefixItems.map((item, index) => {
    const type = typeOf(item, nameOf);
    return index < Number(minItems) ? type.text : `${inParentheses(type)}?`;
  });
  return single(`[${[...first, ...(rest === null ? [] : [`...${rest}[]`])].join(", ")}]`);
}

function objectType(schema: Schema, nameOf: NameOf): Type {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : []);
  const undescribed = [...required].filter((name) => !Object.hasOwn(properties, name));
  const members = [
    ...Object.entries(properties).map(([name, property]) =>
      memberText(name, required.has(name) ? "" : "?", property, nameOf),
    ),
    ...undescribed.map((name) => `${propertyName(name)}: unknown;\n`),
  ];
  const others = otherMembers(schema, members.length > 0, nameOf);
  if (members.length === 0 && others === null) return single("Record<string, never>");
  const text = [...members, ...(others === null ? [] : [`[key: string]: ${others};\n`])].join("");
  return single(`{\n${indented(text)}}`);
}

/** The type of further members; null if there are none. Beside named members, TypeScript can only express any. */
function otherMembers(schema: Schema, hasMembers: boolean, nameOf: NameOf): string | null {
  const { additionalProperties = true, patternProperties, unevaluatedProperties } = schema;
  const isClosed = additionalProperties === false || unevaluatedProperties === false;
  if (isClosed && patternProperties === undefined) return null;
  return hasMembers || patternProperties !== undefined
    ? "unknown"
    : typeOf(additionalProperties, nameOf).text;
}

function memberText(name: string, mark: "" | "?", property: unknown, nameOf: NameOf): string {
  return `${commentOf(property)}${propertyName(name)}${mark}: ${typeOf(property, nameOf).text};\n`;
}

/** The description as a doc comment; empty without one. */
export function commentOf(schema: unknown): string {
  if (!isObject(schema)) return "";
  const lines = [
    ...(typeof schema.description === "string" ? schema.description.trim().split(/\r?\n/) : []),
    ...(schema.deprecated === true ? ["@deprecated"] : []),
  ].map((line) => line.replaceAll("*/", "*\\/").trimEnd());
  if (lines.length === 0 || lines.join("") === "") return "";
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join("\n")}\n */\n`;
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inner]) => `${propertyName(name)}: ${literal(inner)}`);
  return members.length === 0 ? "Record<string, never>" : `{ ${members.join("; ")} }`;
}

function single(text: string): Type {
  return { text, kind: "single" };
}

function union(types: readonly Type[]): Type {
  const texts = [...new Set(types.map(({ text }) => text))];
  if (texts.includes("unknown")) return UNKNOWN;
  const [only = "never"] = texts;
  return texts.length < 2 ? (types[0] ?? single(only)) : { text: texts.join(" | "), kind: "union" };
}

function intersection(types: readonly Type[]): Type {
  const parts = types.filter(({ text }) => text !== "unknown");
  if (parts.length < 2) return parts[0] ?? UNKNOWN;
  const texts = parts.map((type) => (type.kind === "union" ? inParentheses(type) : type.text));
  return { text: [...new Set(texts)].join(" & "), kind: "intersection" };
}

function inParentheses({ text, kind }: Type): string {
  return kind === "single" ? text : `(${text})`;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}
