// Deliveries as they come and as they go on. Somebody who reads is not disturbed: new rows wait while it is paused.
import type { Delivery } from "@posthorn/client";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { useFilters } from "../app/filters.ts";
import { defineTexts, useTexts } from "../app/texts.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { DataTable } from "../components/data-table.tsx";
import { useDeliveryColumns } from "../components/delivery-columns.tsx";
import { FilterBar } from "../components/filter-bar.tsx";
import { Page, Panel } from "../components/panel.tsx";
import { NothingYet } from "../components/states.tsx";
import { type Changes, useLive, useLiveState } from "../live/live.ts";

const texts = defineTexts({
  en: {
    title: "Live tail",
    live: "live",
    connecting: "connecting",
    lost: "the server cannot be reached; it goes on by itself",
    pause: "Pause",
    resume: "Go on",
    waiting: (count: number) => `${count} new, show them`,
    nothing: "Waiting for the next delivery",
    nothingDetail: "Whatever is published from now on appears here.",
    partial:
      "More is happening than can be read: some is left out here. The list of deliveries has all of it.",
  },
  de: {
    title: "Live",
    live: "live",
    connecting: "verbindet",
    lost: "der Server ist nicht erreichbar; es geht von selbst weiter",
    pause: "Anhalten",
    resume: "Weiter",
    waiting: (count: number) => `${count} neue zeigen`,
    nothing: "Wartet auf die nächste Zustellung",
    nothingDetail: "Was ab jetzt veröffentlicht wird, erscheint hier.",
    partial:
      "Es geschieht mehr, als man lesen kann: Einiges fehlt hier. Die Liste der Zustellungen hat alles.",
  },
});

const MOST_ROWS = 500;

export function Tail() {
  const t = useTexts(texts);
  const { filters, set } = useFilters();
  const navigate = useNavigate();
  const columns = useDeliveryColumns();
  const state = useLiveState();
  const { rows, waiting, isPaused, isPartial, pause, resume } = useTail(filters);
  return (
    <Page
      title={t.title}
      lead={
        <span role="status">
          <Badge
            tone={state === "live" ? "ok" : state === "lost" ? "bad" : "calm"}
            icon={state === "live" ? "check" : "clock"}
          >
            {t[state]}
          </Badge>
        </span>
      }
      actions={
        <Button icon={isPaused ? "send" : "pause"} onClick={isPaused ? resume : pause}>
          {isPaused ? t.resume : t.pause}
        </Button>
      }
    >
      <FilterBar filters={filters} onChange={set} fields={["state", "tenant", "type"]} />
      {isPartial && <p className="text-warn">{t.partial}</p>}
      <div aria-live="polite">
        {waiting > 0 && (
          <Button kind="primary" onClick={resume}>
            {t.waiting(waiting)}
          </Button>
        )}
      </div>
      <Panel isFlush>
        {rows.length === 0 ? (
          <NothingYet title={t.nothing}>{t.nothingDetail}</NothingYet>
        ) : (
          <DataTable
            label={t.title}
            rows={rows}
            columns={columns}
            keyOf={({ id }) => id}
            onOpen={({ id }) => void navigate({ to: "/deliveries/$id", params: { id } })}
          />
        )}
      </Panel>
    </Page>
  );
}

function useTail({ tenant, type, state }: Readonly<Record<string, string | undefined>>) {
  const [rows, setRows] = useState<readonly Delivery[]>([]);
  const [held, setHeld] = useState<readonly Delivery[]>([]);
  const [isPaused, setPaused] = useState(false);
  const [isPartial, setPartial] = useState(false);
  const pausedNow = useRef(isPaused);
  useEffect(() => {
    pausedNow.current = isPaused;
  }, [isPaused]);
  const onChanges = useCallback(
    ({ deliveries, is_partial }: Changes) => {
      const wanted = deliveries.filter(
        (delivery) =>
          (tenant === undefined || delivery.tenant === tenant) &&
          (type === undefined || delivery.event_type === type) &&
          (state === undefined || delivery.state === state),
      );
      setPartial(is_partial);
      if (pausedNow.current) setHeld((before) => merged(before, wanted));
      else setRows((before) => merged(before, wanted));
    },
    [tenant, type, state],
  );
  useLive(onChanges);
  return {
    rows,
    waiting: held.length,
    isPaused,
    isPartial,
    pause: () => setPaused(true),
    resume: () => {
      setPaused(false);
      setRows((before) => merged(before, held.toReversed()));
      setHeld([]);
    },
  };
}

/** The newest change on top; a row that was there before moves up with what is new about it. */
function merged(before: readonly Delivery[], oldestFirst: readonly Delivery[]): readonly Delivery[] {
  const changed = new Map(oldestFirst.map((delivery) => [delivery.id, delivery]));
  const rest = before.filter(({ id }) => !changed.has(id));
  return [...[...changed.values()].toReversed(), ...rest].slice(0, MOST_ROWS);
}
