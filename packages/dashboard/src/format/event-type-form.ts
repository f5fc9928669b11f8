// Converts an event type to form fields and back.
import type { EventType } from "@posthorn/client";
import { linesOf } from "./endpoint-form.ts";
import { readJson, writeJson } from "./json-text.ts";

export const EMPTY_TYPE = {
  name: "",
  /** Empty for the default version of the deployment. */
  apiVersion: "",
  description: "",
  schema: "",
  example: "",
  /** One per line. */
  redact: "",
  isDeprecated: false,
};

export type EventTypeForm = Readonly<typeof EMPTY_TYPE>;

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

/** Returns null while the schema or example is not valid JSON. */
export function bodyOfType(form: EventTypeForm) {
  const schema = readJson(form.schema);
  const example = readJson(form.example);
  if (!schema.ok || !example.ok) return null;
  return {
    ...(form.apiVersion.trim() !== "" && { api_version: form.apiVersion.trim() }),
    description: form.description.trim() === "" ? null : form.description.trim(),
    schema: (schema.value ?? null) as EventType["schema"],
    example: example.value ?? null,
    redact: linesOf(form.redact, "\n"),
    deprecated: form.isDeprecated,
  };
}

/** Identifies a version of an event type in a list. */
export function versionKey({ name, api_version }: EventType): string {
  return `${name}:${api_version}`;
}
