// The endpoints of the portal's tenant.
import { Link } from "@tanstack/react-router";
import { useList } from "../../api/list.ts";
import { useHasScope, useTenant } from "../../api/session.ts";
import { defineTexts } from "../../app/texts.ts";
import {
  EndpointBadge,
  EndpointUrl,
  endpointProblem,
  LastDay,
} from "../../components/endpoint/endpoint-columns.tsx";
import { ListPage } from "../../components/list/list-page.tsx";
import { buttonClass } from "../../components/ui/button.tsx";
import { Icon } from "../../components/ui/icons.tsx";
import { EndpointName } from "../../components/ui/links.tsx";

const t = defineTexts({
  nothingDetail: [
    "Add the URL of your receiver, choose event types and send a test event.",
    "Geben Sie die URL Ihres Empfängers an, wählen Sie Ereignistypen und senden Sie ein Testereignis.",
  ],
});

export function PortalEndpoints() {
  const tenant = useTenant();
  const list = useList("endpoints.list", { tenant });
  const add = useHasScope("webhooks:manage") && (
    <Link to="/add" className={buttonClass("primary")}>
      <Icon name="plus" />
      {t.addEndpoint}
    </Link>
  );
  return (
    <ListPage
      title={t.endpoints}
      actions={add}
      list={list}
      columns={[
        { key: "state", head: t.state, cell: (endpoint) => <EndpointBadge endpoint={endpoint} /> },
        {
          key: "name",
          head: t.endpoint,
          share: 4,
          cell: (endpoint) => (
            <EndpointUrl endpoint={endpoint}>
              <EndpointName {...endpoint} />
            </EndpointUrl>
          ),
          below: endpointProblem,
        },
        {
          key: "problem",
          head: t.problem,
          from: "xl",
          share: 3,
          cell: (endpoint) => endpointProblem(endpoint) ?? "–",
        },
        { key: "events", head: t.eventTypes, from: "md", share: 2, cell: ({ events }) => events.join(", ") },
        {
          key: "day",
          head: t.lastDay,
          from: "sm",
          cell: ({ health }) => <LastDay day={health.last_day} />,
        },
      ]}
      linkTo={({ id }) => ({ to: "/endpoints/$id", params: { id } })}
      nothing={t.noEndpoints}
      nothingDetail={
        <>
          <p className="pb-3">{t.nothingDetail}</p>
          {add}
        </>
      }
    />
  );
}
