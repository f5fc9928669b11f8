// An editable event for tests, prefilled from a catalogue example.
import type { EventType } from "@posthorn/client";
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { readJson, writeJson } from "../../format/json-text.ts";
import type { Problems } from "../../format/problems.ts";
import { Choice, TextArea, TextField } from "../ui/field.tsx";

const texts = defineTexts({
  en: {
    example: "Use an example from the catalogue",
    none: "none",
    type: "Event type",
    subject: "Subject",
    subjectHint: "Optional.",
    data: "Data",
    dataHint: "JSON.",
  },
  de: {
    example: "Beispiel aus dem Katalog verwenden",
    none: "keines",
    type: "Ereignistyp",
    subject: "Subject",
    subjectHint: "Optional.",
    data: "Daten",
    dataHint: "JSON.",
  },
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
  const t = useTexts(texts);
  const { data: catalogue } = useQuery({
    queryKey: ["event-types", "examples"],
    queryFn: ({ signal }) => api.eventTypes.list({ query: { limit: MAX_TYPES }, signal }),
  });
  const types = catalogue?.data ?? [];
  const read = readJson(draft.data);
  const take = (type: EventType | undefined) => {
    if (type !== undefined) onChange({ ...draft, type: type.name, data: writeJson(type.example ?? {}) });
  };
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {types.length > 0 && (
        <div className="sm:col-span-2">
          <Choice
            label={t.example}
            value=""
            onChange={(event) => take(types.find((type) => keyOf(type) === event.target.value))}
          >
            <option value="">{t.none}</option>
            {types.map((type) => (
              <option key={keyOf(type)} value={keyOf(type)}>
                {keyOf(type)}
              </option>
            ))}
          </Choice>
        </div>
      )}
      <TextField
        label={t.type}
        className="font-mono"
        value={draft.type}
        problem={problems.at("/type")}
        onChange={(event) => onChange({ ...draft, type: event.target.value })}
      />
      <TextField
        label={t.subject}
        hint={t.subjectHint}
        value={draft.subject}
        problem={problems.at("/subject")}
        onChange={(event) => onChange({ ...draft, subject: event.target.value })}
      />
      <div className="sm:col-span-2">
        <TextArea
          label={t.data}
          hint={t.dataHint}
          value={draft.data}
          problem={read.ok ? problems.at("/data") : read.problem}
          onChange={(event) => onChange({ ...draft, data: event.target.value })}
        />
      </div>
    </div>
  );
}

function keyOf({ name, api_version }: EventType): string {
  return api_version === "1" ? name : `${name} (${api_version})`;
}
