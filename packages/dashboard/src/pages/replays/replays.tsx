// The lists of replays: of all tenants, and those of the portal's tenant.
import type { Replay } from "@posthorn/client";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useTenant } from "../../api/session.ts";
import { type Filters, useFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { ListPage } from "../../components/list/list-page.tsx";
import { NewReplay } from "../../components/replay/new-replay.tsx";
import { ReplayBadge, ReplayProgress } from "../../components/replay/replay-progress.tsx";
import { ActionButton } from "../../components/ui/action-button.tsx";
import { Ago } from "../../components/ui/time.tsx";
import { localTime } from "../../format/time.ts";

const t = defineTexts({
  portalLead: [
    "Send events again. They have the same event ids, so your receiver can detect duplicates.",
    "Ereignisse erneut senden. Sie haben dieselben Ereignis-IDs, sodass Ihr Empfänger Duplikate erkennt.",
  ],
  nothingDetail: [
    "A replay sends all deliveries that match a filter again, with the same event ids.",
    "Ein Replay sendet alle Zustellungen, die zu einem Filter passen, erneut mit denselben Ereignis-IDs.",
  ],
});

const REFRESH_MS = 2_000;

export function Replays() {
  const { filters, clear } = useFilters();
  const navigate = useNavigate();
  const list = useReplays();
  return (
    <ListPage
      title={t.replays}
      actions={
        <NewReplay
          isOpenFirst={filters.new !== undefined}
          initial={initialOf(filters)}
          onClose={clear}
          onStarted={(id) => void navigate({ to: "/replays/$id", params: { id } })}
        />
      }
      list={list}
      columns={[
        { key: "state", head: t.state, cell: ({ state }) => <ReplayBadge state={state} /> },
        {
          key: "of",
          head: t.filter,
          share: 1,
          cell: (replay) => filterOf(replay) || t.all,
          below: (replay) => (
            <span className="sm:hidden">
              <ReplayProgress replay={replay} />
              {replay.state !== "scheduled" && <Ago at={replay.created_at} />}
            </span>
          ),
        },
        {
          key: "progress",
          head: t.progress,
          from: "sm",
          cell: (replay) => <ReplayProgress replay={replay} />,
        },
        { key: "created", head: t.created, from: "sm", cell: ({ created_at }) => <Ago at={created_at} /> },
      ]}
      linkTo={({ id }) => ({ to: "/replays/$id", params: { id } })}
      nothing={t.noReplays}
      nothingDetail={t.nothingDetail}
    />
  );
}

export function PortalReplays() {
  const tenant = useTenant();
  const list = useReplays();
  return (
    <ListPage
      title={t.replays}
      lead={t.portalLead}
      actions={<NewReplay tenant={tenant} />}
      list={list}
      columns={[
        { key: "state", head: t.state, cell: ({ state }) => <ReplayBadge state={state} /> },
        { key: "progress", head: t.progress, cell: (replay) => <ReplayProgress replay={replay} /> },
        { key: "created", head: t.created, from: "sm", cell: ({ created_at }) => <Ago at={created_at} /> },
        {
          key: "cancel",
          head: "",
          cell: ({ id, state }) =>
            (state === "scheduled" || state === "running") && (
              <ActionButton kind="quiet" action={() => api.replays.cancel({ replay: id })}>
                {t.cancel}
              </ActionButton>
            ),
        },
      ]}
      nothing={t.noReplays}
    />
  );
}

function useReplays() {
  return useList("replays.list", {}, { watch: { everyMs: REFRESH_MS } });
}

/** Converts the filters of a delivery list to the form. */
function initialOf({ new: states, since: _, created_after, created_before, ...rest }: Filters): Filters {
  return {
    ...rest,
    ...(states !== undefined && { states }),
    after: localTime(created_after ?? ""),
    before: localTime(created_before ?? ""),
  };
}

function filterOf({ tenant, endpoint, type, states, reason }: Replay): string {
  return [tenant, endpoint, type, states?.join(" + "), reason].filter((part) => part).join(" · ");
}
