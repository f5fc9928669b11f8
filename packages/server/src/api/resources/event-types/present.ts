import type { EventType } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Sent } from "../../implement.ts";

type Given = Awaited<ReturnType<Posthorn["eventTypes"]["put"]>>;

/** An event type as the API shows it. */
export function presentEventType(type: Given): Sent<EventType> {
  return {
    name: type.name,
    api_version: type.apiVersion,
    description: type.description,
    schema: type.schema,
    example: type.example,
    redact: type.redact,
    deprecated: type.deprecated,
    created_at: type.createdAt,
    updated_at: type.updatedAt,
  };
}
