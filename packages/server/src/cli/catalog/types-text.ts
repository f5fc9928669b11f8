// The TypeScript types of a catalogue: one for each version of each type, and `EventTypes`, which has them all by name and
// version, for `createClient<EventTypes>()`. The same catalogue gives the same text.
import { isObject } from "@posthorn/wire";
import { commentOf, schemaType } from "./schema-type.ts";
import type { CatalogueType } from "./server-catalogue.ts";

const HEAD = "// Written by `posthorn catalog types`. Changes are lost when it is written again.\n";

export function typesText(types: readonly CatalogueType[]): string {
  const names = new Names();
  const sorted = types.toSorted((a, b) => compare(a.name, b.name) || compare(a.api_version, b.api_version));
  const named = sorted.map((type) => ({ type, name: names.unique(typeName(type)) }));
  const declarations = named.flatMap(({ type, name }) => declarationsOf(type, name, names));
  return [HEAD, ...declarations, mapText(named)].join("\n");
}

interface Named {
  readonly type: CatalogueType;
  readonly name: string;
}

/** The type of the data, and those that its schema refers to. */
function declarationsOf(
  { schema, description, deprecated }: CatalogueType,
  name: string,
  names: Names,
): string[] {
  const referred = new Map<string, string>([["#", name]]);
  const waiting: string[] = [];
  const nameOf = (reference: string): string => {
    const known = referred.get(reference);
    if (known !== undefined) return known;
    const given = names.unique(name + pascalCase(partsOf(reference).at(-1) ?? ""));
    referred.set(reference, given);
    waiting.push(reference);
    return given;
  };
  const about = commentOf({ description, deprecated });
  const declarations = [declaration(about, name, schemaType(schema ?? true, nameOf))];
  for (let reference = waiting.shift(); reference !== undefined; reference = waiting.shift()) {
    const definition = resolve(schema, reference);
    declarations.push(declaration(commentOf(definition), nameOf(reference), schemaType(definition, nameOf)));
  }
  return declarations;
}

function declaration(comment: string, name: string, type: string): string {
  return `${comment}export type ${name} = ${type};\n`;
}

function mapText(named: readonly Named[]): string {
  const names = [...new Set(named.map(({ type }) => type.name))];
  const members = names.map((name) => {
    const versions = named.filter(({ type }) => type.name === name);
    const inner = versions.map(({ type, name }) => `    ${JSON.stringify(type.api_version)}: ${name};\n`);
    return `  ${JSON.stringify(name)}: {\n${inner.join("")}  };\n`;
  });
  return `/** The data of every event type by its name and version. */\nexport type EventTypes = {\n${members.join("")}};\n`;
}

/** `order.paid`, version 2: `OrderPaidV2`. */
function typeName({ name, api_version }: CatalogueType): string {
  return `${pascalCase(name)}V${api_version.replace(/\W/g, "_")}`;
}

function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^\d/.test(name) ? `_${name}` : name;
}

/** The schema at a reference such as `#/$defs/address`. */
function resolve(schema: unknown, reference: string): unknown {
  return partsOf(reference).reduce<unknown>(
    (at, part) => (isObject(at) || Array.isArray(at) ? (at as Record<string, unknown>)[part] : undefined),
    schema,
  );
}

function partsOf(reference: string): string[] {
  const parts = reference.split("/").slice(1);
  return parts.map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Names that are used already get a number. */
class Names {
  readonly #used = new Set(["EventTypes"]);

  unique(wanted: string): string {
    let name = wanted;
    for (let number = 2; this.#used.has(name); number += 1) name = `${wanted}_${number}`;
    this.#used.add(name);
    return name;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
