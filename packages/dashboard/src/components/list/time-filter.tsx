// The time range of a list: a preset that ends now, or two times with their clock. Both are in the URL.
import { useState } from "react";
import { type Filters, SINCE, type Since } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { localTime } from "../../format/time.ts";
import { Choice, TextField } from "../ui/field.tsx";

const t = defineTexts({
  time: ["Time", "Zeitraum"],
  "1h": ["Last hour", "Letzte Stunde"],
  "24h": ["Last 24 hours", "Letzte 24 Stunden"],
  "7d": ["Last 7 days", "Letzte 7 Tage"],
  "30d": ["Last 30 days", "Letzte 30 Tage"],
  custom: ["Custom …", "Eigener …"],
});

const CUSTOM = "custom";

export function TimeFilter({
  filters: { since, created_after, created_before },
  onChange,
}: {
  readonly filters: Filters;
  readonly onChange: (change: Filters) => void;
}) {
  const hasTimes = created_after !== undefined || created_before !== undefined;
  const [isCustom, setCustom] = useState(false);
  const shown = since ?? (hasTimes || isCustom ? CUSTOM : "");
  return (
    <>
      <Choice
        label={t.time}
        none={t.all}
        options={[
          ...(Object.keys(SINCE) as Since[]).map((name) => [name, t[name]] as const),
          [CUSTOM, t.custom],
        ]}
        value={shown}
        onChange={({ target: { value } }) => {
          setCustom(value === CUSTOM);
          const none = { since: undefined, created_after: undefined, created_before: undefined };
          if (value !== CUSTOM) onChange({ ...none, since: value });
          else if (since !== undefined) onChange(none);
        }}
      />
      {shown === CUSTOM && (
        <>
          <TimeField
            label={t.createdAfter}
            value={created_after ?? ""}
            onChange={(value) => onChange({ created_after: value })}
          />
          <TimeField
            label={t.createdBefore}
            value={created_before ?? ""}
            onChange={(value) => onChange({ created_before: value })}
          />
        </>
      )}
    </>
  );
}

/** Applied when it is a complete time, and when it is emptied. */
function TimeField({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <TextField
      label={label}
      type="datetime-local"
      value={typed ?? localTime(value)}
      onChange={({ target }) => setTyped(target.value)}
      onBlur={() => {
        if (typed === null) return;
        setTyped(null);
        onChange(typed === "" ? "" : new Date(typed).toISOString());
      }}
    />
  );
}
