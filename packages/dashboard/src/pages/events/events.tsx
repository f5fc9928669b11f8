// Events of all tenants, newest first. Those that the catalogue rejected have a label and a filter.
import { BASE_URL } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useQueryFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { DecideRejected } from "../../components/bulk/decide-rejected.tsx";
import { EventOutcome } from "../../components/event/event-outcome.tsx";
import { MissingEventHelp } from "../../components/event/missing-event-help.tsx";
import { ExportButton } from "../../components/list/export-button.tsx";
import { ListPage } from "../../components/list/list-page.tsx";
import { Ago } from "../../components/ui/time.tsx";
import { eventRowChanges } from "../../live/row-changes.ts";

const t = defineTexts({
  outcome: ["Outcome", "Ergebnis"],
  sequence: ["Sequence", "Sequenz"],
  nothing: ["No events yet", "Noch keine Ereignisse"],
  nothingDetail: ["Publish one from a terminal:", "Im Terminal veröffentlichen:"],
});

/** For the outcomes: the stream reports deliveries, not what they add up to. */
const REFRESH_MS = 5_000;

export function Events() {
  const filters = useQueryFilters();
  const { event_state, ...others } = filters;
  const query = event_state === "rejected" ? { ...others, state: event_state } : others;
  const list = useList(
    "events.list",
    { query: { ...query, data: "omit" } },
    { watch: { everyMs: REFRESH_MS, live: (changes) => eventRowChanges(changes, query) } },
  );
  return (
    <ListPage
      title={t.events}
      actions={
        <>
          <ExportButton of={["events"]} filters={query} />
          {event_state === "rejected" && <DecideRejected filters={others} />}
        </>
      }
      filterBy={["event_state", "tenant", "type", "subject", "created"]}
      list={list}
      columns={[
        {
          key: "type",
          head: t.eventType,
          share: 3,
          cell: ({ type }) => <code>{type}</code>,
          below: ({ subject }) => subject,
        },
        { key: "outcome", head: t.outcome, cell: (event) => <EventOutcome event={event} /> },
        { key: "tenant", head: t.tenant, from: "sm", share: 2, cell: ({ tenant }) => tenant },
        { key: "subject", head: t.subject, from: "xl", share: 2, cell: ({ subject }) => subject ?? "–" },
        { key: "created", head: t.created, cell: ({ created_at }) => <Ago at={created_at} /> },
        {
          key: "id",
          head: t.id,
          from: "xl",
          share: 2,
          isExtra: true,
          cell: ({ id }) => <code className="text-muted">{id}</code>,
        },
        {
          key: "sequence",
          head: t.sequence,
          from: "xl",
          isNumber: true,
          isExtra: true,
          cell: ({ sequence }) => sequence ?? "–",
        },
      ]}
      linkTo={({ id }) => ({ to: "/events/$id", params: { id } })}
      filteredOut={event_state !== "rejected" && <MissingEventHelp />}
      nothing={t.nothing}
      nothingDetail={t.nothingDetail}
      command={`POSTHORN_URL=${BASE_URL} posthorn publish order.paid --tenant acme --data '{"order":1}'`}
    />
  );
}
