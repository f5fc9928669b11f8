// Table columns of endpoints, with the state, URL and problem of an endpoint.
import type { Endpoint } from "@posthorn/client";
import type { ReactNode } from "react";
import { defineTexts, type Text } from "../../app/texts.ts";
import { explain, lastErrorKey } from "../../format/delivery-texts.ts";
import { Sparkline } from "../chart/sparkline.tsx";
import { successRateText } from "../chart/success-rate.tsx";
import type { Column } from "../list/data-table.tsx";
import { Badge, type BadgeProps } from "../ui/badge.tsx";
import { EndpointName, TenantLink } from "../ui/links.tsx";
import { Ago } from "../ui/time.tsx";

const t = defineTexts({
  degraded: ["degraded", "beeinträchtigt"],
  circuitOpen: ["circuit open", "Circuit Breaker offen"],
  subscription: [
    "WebSub subscription, managed by its subscriber.",
    "WebSub-Abonnement, vom Abonnenten verwaltet.",
  ],
  problems: {
    manual: ["disabled manually", "manuell deaktiviert"],
    gone: "HTTP 410 (Gone)",
    failures: ["too many consecutive failures", "zu viele Fehler in Folge"],
    no_success: ["no success for days", "seit Tagen kein Erfolg"],
    requesting: ["consent requested", "Zustimmung angefragt"],
    waiting: ["consent pending", "Zustimmung offen"],
    denied: ["consent declined", "Zustimmung abgelehnt"],
  } as Readonly<Record<string, Text>>,
});

export function endpointColumns({ isOfOneTenant = false } = {}): readonly Column<Endpoint>[] {
  const columns: readonly (Column<Endpoint> | false)[] = [
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
      below: (endpoint) => {
        const problem = endpointProblem(endpoint);
        return (
          <>
            {!isOfOneTenant && <span className="sm:hidden">{endpoint.tenant}</span>}
            {!isOfOneTenant && problem !== null && <span className="sm:hidden"> · </span>}
            {problem}
          </>
        );
      },
    },
    !isOfOneTenant && {
      key: "tenant",
      head: t.tenant,
      from: "sm",
      share: 2,
      cell: ({ tenant }) => <TenantLink tenant={tenant} className="underline-offset-2 hover:underline" />,
    },
    { key: "events", head: t.eventTypes, from: "lg", share: 2, cell: ({ events }) => events.join(", ") },
    {
      key: "problem",
      head: t.problem,
      from: "xl",
      share: 3,
      cell: (endpoint) => endpointProblem(endpoint) ?? "–",
    },
    {
      key: "day",
      head: t.lastDay,
      from: "md",
      cell: ({ health }) => <LastDay day={health.last_day} />,
    },
    {
      key: "description",
      head: t.description,
      from: "xl",
      share: 2,
      isExtra: true,
      cell: ({ description }) => description ?? "–",
    },
    { key: "id", head: t.id, from: "xl", share: 2, isExtra: true, cell: ({ id }) => <code>{id}</code> },
    {
      key: "created",
      head: t.created,
      from: "xl",
      isExtra: true,
      cell: ({ created_at }) => <Ago at={created_at} />,
    },
  ];
  return columns.filter((column) => column !== false);
}

/** The last 24 hours: bars and the success rate. */
export function LastDay({ day }: { readonly day: Endpoint["health"]["last_day"] }) {
  return (
    <span className="flex items-center gap-2">
      <Sparkline points={day?.points ?? null} />
      {day !== null && (
        <span className="text-xs text-muted tabular-nums" title={t.successRate}>
          {successRateText(day.success_rate)}
        </span>
      )}
    </span>
  );
}

export function EndpointBadge({ endpoint }: { readonly endpoint: Endpoint }) {
  return <Badge {...lookOf(endpoint)} />;
}

function lookOf({ is_active, disabled_reason, handshake, circuit, health }: Endpoint): BadgeProps {
  if (!is_active)
    return { tone: "bad", icon: "pause", title: t.problems[disabled_reason ?? ""], children: t.disabled };
  if (handshake !== null && handshake.state !== "granted") {
    const look = handshake.state === "denied" ? DENIED : WAITING;
    return { ...look, title: handshake.detail ?? undefined, children: t.problems[handshake.state] };
  }
  if (circuit === "closed" && health.consecutive_failures === 0)
    return { tone: "ok", icon: "check", children: t.active };
  const children = circuit === "closed" ? t.degraded : t.circuitOpen;
  return { tone: "warn", icon: "warning", title: health.last_error ?? undefined, children };
}

const DENIED = { tone: "bad", icon: "lock" } as const;
const WAITING = { tone: "warn", icon: "clock" } as const;

/** Returns the problem of an endpoint in a few words; null for a healthy one. */
export function endpointProblem({ disabled_reason, handshake, health }: Endpoint): string | null {
  if (disabled_reason !== null) return t.problems[disabled_reason] ?? disabled_reason;
  if (handshake !== null && handshake.state !== "granted") return t.problems[handshake.state] ?? null;
  if (health.consecutive_failures === 0 || health.last_error === null) return null;
  return explain(lastErrorKey(health.last_error)).what;
}

/** The URL, with a badge for WebSub subscriptions. */
export function EndpointUrl({
  endpoint: { websub },
  children,
}: {
  readonly endpoint: Pick<Endpoint, "websub">;
  readonly children: ReactNode;
}) {
  if (websub === null) return children;
  return (
    <>
      <Badge tone="plain" title={t.subscription}>
        WebSub
      </Badge>{" "}
      {children}
    </>
  );
}
