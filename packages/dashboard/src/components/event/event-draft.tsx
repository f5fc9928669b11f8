// An editable event for tests, prefilled from a catalogue example.
import type { EventType } from "@posthorn/client";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { readJson, writeJson } from "../../format/json-text.ts";
import type { Problems } from "../../format/problems.ts";
import { Choice, fieldsIn, TextArea, TextField } from "../ui/field.tsx";

const t = defineTexts({
  example: ["Use an example from the catalogue", "Beispiel aus dem Katalog verwenden"],
  none: ["none", "keines"],
  subjectHint: "Optional.",
  dataHint: "JSON.",
});

export interface Draft {
  readonly type: string;
  readonly subject: string;
  readonly data: string;
}

/** Returns null while the data is not valid JSON. */
export function eventOf({ type, subject, data }: Draft): {
  readonly type: string;
  readonly data: unknown;
  readonly subject: string | null;
} | null {
  const read = readJson(data);
  if (!read.ok) return null;
  return { type: type.trim(), data: read.value ?? null, subject: subject === "" ? null : subject };
}

const MAX_TYPES = 250;

export function EventDraft({
  draft,
  onChange,
  problems,
}: {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly problems: Problems;
}) {
  const { data: catalogue } = useApi("eventTypes.list", { query: { limit: MAX_TYPES } });
  const types = catalogue?.data ?? [];
  const read = readJson(draft.data);
  const field = fieldsIn({ form: draft, onChange, problems });
  const take = (type: EventType | undefined) => {
    if (type !== undefined) onChange({ ...draft, type: type.name, data: writeJson(type.example ?? {}) });
  };
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {types.length > 0 && (
        <div className="sm:col-span-2">
          <Choice
            label={t.example}
            none={t.none}
            options={types.map((type) => [keyOf(type), keyOf(type)])}
            value=""
            onChange={(event) => take(types.find((type) => keyOf(type) === event.target.value))}
          />
        </div>
      )}
      <TextField label={t.eventType} className="font-mono" {...field("type")} />
      <TextField label={t.subject} hint={t.subjectHint} {...field("subject")} />
      <div className="sm:col-span-2">
        <TextArea
          label={t.data}
          hint={t.dataHint}
          {...field("data")}
          {...(!read.ok && { problem: read.problem })}
        />
      </div>
    </div>
  );
}

function keyOf({ name, api_version }: EventType): string {
  return api_version === "1" ? name : `${name} (${api_version})`;
}
