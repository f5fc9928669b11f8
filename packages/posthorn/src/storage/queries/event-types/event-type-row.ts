export interface EventTypeRow {
  readonly name: string;
  readonly apiVersion: string;
  readonly description: string | null;
  /** JSON text as registered. */
  readonly schema: string | null;
  readonly example: string | null;
  readonly redact: readonly string[];
  readonly isDeprecated: boolean;
  readonly isDeleted: boolean;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Columns of `posthorn.event_types t`. */
export const eventTypeColumns = `t.name, t.api_version as "apiVersion", t.description, t.schema, t.example,
  to_json(t.redact) as redact, t.is_deprecated as "isDeprecated", t.deleted_at is not null as "isDeleted",
  posthorn.epoch_ms(t.created_at) as "createdMs", posthorn.epoch_ms(t.updated_at) as "updatedMs"`;
