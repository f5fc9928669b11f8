// Converts an event type to form fields and back.
import type { EventType } from "@posthorn/client";
import { readJson, writeJson } from "./json-text.ts";

export interface EventTypeForm {
  readonly name: string;
  readonly apiVersion: string;
  readonly description: string;
  readonly schema: string;
  readonly example: string;
  /** One per line. */
  readonly redact: string;
  readonly isDeprecated: boolean;
}

export const EMPTY_TYPE: EventTypeForm = {
  name: "",
  apiVersion: "1",
  description: "",
  schema: "",
  example: "",
  redact: "",
  isDeprecated: false,
};

export function formOfType(type: EventType): EventTypeForm {
  return {
    name: type.name,
    apiVersion: type.api_version,
    description: type.description ?? "",
    schema: writeJson(type.schema),
    example: writeJson(type.example),
    redact: type.redact.join("\n"),
    isDeprecated: type.deprecated,
  };
}

type Schema = NonNullable<EventType["schema"]>;

export interface EventTypeBody {
  readonly api_version: string;
  readonly description: string | null;
  readonly schema: Schema | null;
  readonly example: unknown;
  readonly redact: string[];
  readonly deprecated: boolean;
}

/** Returns null while the schema or example is not valid JSON. */
export function bodyOfType(form: EventTypeForm): EventTypeBody | null {
  const schema = readJson(form.schema);
  const example = readJson(form.example);
  if (!schema.ok || !example.ok) return null;
  return {
    api_version: form.apiVersion.trim(),
    description: form.description.trim() === "" ? null : form.description.trim(),
    schema: (schema.value ?? null) as Schema | null,
    example: example.value ?? null,
    redact: form.redact
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
    deprecated: form.isDeprecated,
  };
}
