// Two attempts of a delivery side by side: only what differs.
import type { Attempt, DeliveryDetail } from "@posthorn/client";
import { useState } from "react";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import {
  type AttemptComparison,
  type ComparedField,
  compareAttempts,
  type PhaseName,
} from "../../format/compare-attempts.ts";
import { triggerTexts } from "../../format/delivery-texts.ts";
import { duration } from "../../format/time.ts";
import { Select } from "../ui/field.tsx";
import { NotLoaded } from "../ui/page.tsx";
import { phaseName } from "./waterfall.tsx";

const t = defineTexts({
  first: ["First attempt", "Erster Versuch"],
  second: ["Second attempt", "Zweiter Versuch"],
  attempt: ["Attempt {number}", "Versuch {number}"],
  option: ["Attempt {number} · {outcome}", "Versuch {number} · {outcome}"],
  same: ["No differences.", "Keine Unterschiede."],
  none: ["none", "keine"],
  status: ["Response", "Antwort"],
  trigger: ["Trigger", "Auslöser"],
  whole: ["Body", "Body"],
  parts: {
    outcome: ["Outcome", "Ergebnis"],
    phases: ["Phases", "Phasen"],
    requestHeaders: ["Request headers", "Header der Anfrage"],
    requestBody: ["Request body", "Body der Anfrage"],
    responseBody: ["Response body", "Body der Antwort"],
  },
});

/** Needs at least two attempts. */
export function CompareAttempts({ delivery: { id, attempts } }: { readonly delivery: DeliveryDetail }) {
  const [numbers, setNumbers] = useState(() => attempts.slice(-2).map(({ number }) => number));
  const [first = 0, second = 0] = numbers;
  const options = attempts.map(({ number, status_code, error }) => {
    const outcome = status_code === null ? (error ?? t.unknown) : `HTTP ${status_code}`;
    return [String(number), t.option({ number, outcome })] as const;
  });
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <Select
          aria-label={t.first}
          options={options}
          value={String(first)}
          onChange={(event) => setNumbers([Number(event.target.value), second])}
        />
        <span aria-hidden="true">↔</span>
        <Select
          aria-label={t.second}
          options={options}
          value={String(second)}
          onChange={(event) => setNumbers([first, Number(event.target.value)])}
        />
      </div>
      <Comparison delivery={id} attempts={attempts} numbers={[first, second]} />
    </div>
  );
}

function Comparison({
  delivery,
  attempts,
  numbers,
}: {
  readonly delivery: string;
  readonly attempts: readonly Attempt[];
  readonly numbers: readonly [number, number];
}) {
  const requests = [
    useApi("deliveries.request", { delivery, query: { attempt: numbers[0] } }),
    useApi("deliveries.request", { delivery, query: { attempt: numbers[1] } }),
  ] as const;
  const [first, second] = [0, 1].map((side) => {
    const index = attempts.findIndex(({ number }) => number === numbers[side]);
    const attempt = attempts[index];
    const request = requests[side]?.data;
    return attempt && request && { attempt, previous: attempts[index - 1], request };
  });
  if (first === undefined || second === undefined) {
    return <NotLoaded query={requests.find(({ error }) => error !== null) ?? requests[0]} />;
  }
  const compared = compareAttempts(first, second);
  return (
    <>
      {(Object.keys(t.parts) as (keyof AttemptComparison)[]).map((part) => (
        <section key={part}>
          <h3 className="pb-1 text-sm font-medium">{t.parts[part]}</h3>
          {compared[part].length === 0 && <p className="text-sm text-muted">{t.same}</p>}
          {compared[part].length > 0 && (
            <Differences numbers={numbers} fields={compared[part].map((field) => shown(part, field))} />
          )}
        </section>
      ))}
    </>
  );
}

function Differences({
  numbers,
  fields,
}: {
  readonly numbers: readonly [number, number];
  readonly fields: readonly ComparedField[];
}) {
  return (
    <dl className="flex flex-col divide-y divide-line text-xs">
      {fields.map(({ name, values }) => (
        <div key={name} className="grid gap-x-4 gap-y-1 py-1.5 sm:grid-cols-2 lg:grid-cols-[14rem_1fr_1fr]">
          <dt className="text-muted wrap-anywhere sm:max-lg:col-span-2">{name === "" ? t.whole : name}</dt>
          {values.map((value, side) => (
            <dd
              // biome-ignore lint/suspicious/noArrayIndexKey: there are two sides, which never change order
              key={side}
              className="flex min-w-0 gap-2"
            >
              <span className="shrink-0 text-muted">{t.attempt({ number: numbers[side] ?? 0 })}</span>
              {value === null ? (
                <span className="text-muted">{t.none}</span>
              ) : (
                <code className="min-w-0 font-mono whitespace-pre-wrap wrap-anywhere">{value}</code>
              )}
            </dd>
          ))}
        </div>
      ))}
    </dl>
  );
}

/** With names and values for people. */
function shown(
  part: keyof AttemptComparison,
  { name, values }: ComparedField | ComparedField<number>,
): ComparedField {
  const [first, second] = values;
  if (part === "phases") {
    const time = (ms: string | number | null) => (ms === null ? null : duration(Number(ms)));
    return { name: phaseName(name as PhaseName), values: [time(first), time(second)] };
  }
  const texts: ComparedField = { name, values: [first, second] as ComparedField["values"] };
  if (part !== "outcome") return texts;
  if (name === "status") return { ...texts, name: t.status };
  const trigger = (value: string | number | null) => triggerTexts[value as Attempt["trigger"]];
  return { name: t.trigger, values: [trigger(first), trigger(second)] };
}
