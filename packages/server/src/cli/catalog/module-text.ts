// The server's catalogue as a module for `createPosthorn({ events })` and `posthorn catalog push`.
import type { EventType } from "@posthorn/client";
import type { CatalogueType } from "./server-catalogue.ts";

const HEAD = `// Written by \`posthorn catalog pull --format module\`.
import { event } from "posthorn";
`;

/** A module has one version of a type: the one registered last. The others are `omitted`. */
export function moduleText(types: readonly EventType[]): {
  readonly text: string;
  readonly omitted: readonly EventType[];
} {
  const last = new Map<string, EventType>();
  for (const type of types) {
    const other = last.get(type.name);
    if (other === undefined || other.created_at <= type.created_at) last.set(type.name, type);
  }
  const members = [...last.values()].map(declarationOf);
  const text = `${HEAD}\nexport const events = {\n${members.join("")}};\n`;
  return { text, omitted: types.filter((type) => last.get(type.name) !== type) };
}

function declarationOf({
  name,
  api_version,
  description,
  schema,
  example,
  redact,
  deprecated,
}: CatalogueType): string {
  const declaration = {
    version: api_version,
    ...(description !== null && { description }),
    schema: schema ?? {},
    ...(example !== null && { example }),
    ...(redact.length > 0 && { redact }),
    ...(deprecated && { deprecated }),
  };
  const text = JSON.stringify(declaration, null, 2).replaceAll("\n", "\n  ");
  return `  ${JSON.stringify(name)}: event(${text}),\n`;
}
