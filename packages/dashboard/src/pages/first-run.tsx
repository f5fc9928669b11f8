// The getting-started page: publish an event, see it delivered, add an endpoint.
import { Link } from "@tanstack/react-router";
import { type ReactNode, useId } from "react";
import { useFirstRun } from "../api/first-run.ts";
import { defineTexts } from "../app/texts.ts";
import { Arrival } from "../components/delivery/arrival.tsx";
import { OwnEndpoint } from "../components/first-run/own-endpoint.tsx";
import { SendEvent } from "../components/first-run/send-event.tsx";
import { buttonClass } from "../components/ui/button.tsx";
import { Icon } from "../components/ui/icons.tsx";
import { IdLink } from "../components/ui/links.tsx";
import { NotLoaded, Page } from "../components/ui/page.tsx";

const t = defineTexts({
  withSink: [
    "Publish an event, see it delivered to this server's built-in sink, then to your application.",
    "Veröffentlichen Sie ein Ereignis und verfolgen Sie die Zustellung an den eingebauten Testempfänger (Sink), dann an Ihre Anwendung.",
  ],
  withoutSink: [
    "This server has no built-in sink (posthorn dev has one). Add your endpoint first, then publish an event to it.",
    "Dieser Server hat keinen eingebauten Testempfänger (posthorn dev hat einen). Fügen Sie zuerst Ihren Endpunkt hinzu und veröffentlichen Sie dann ein Ereignis.",
  ],
  arriveAtSink: ["See it delivered to the sink", "Zustellung an den Testempfänger verfolgen"],
  arrive: ["See it delivered", "Zustellung verfolgen"],
  own: ["Add your own endpoint", "Eigenen Endpunkt hinzufügen"],
  notYet: [
    "Done as soon as an event is published and delivered.",
    "Erledigt, sobald ein Ereignis veröffentlicht und zugestellt ist.",
  ],
  whyUnmatched: ["Show why", "Grund anzeigen"],
  arrived: ["Delivered.", "Zugestellt."],
  allDone: ["All done.", "Alles erledigt."],
  toOverview: ["Open overview", "Überblick öffnen"],
  toCatalogue: ["Describe your events", "Ereignisse beschreiben"],
  done: ["done", "erledigt"],
});

export function FirstRunPage() {
  const query = useFirstRun();
  const { data } = query;
  if (data === undefined) return <NotLoaded query={query} />;
  const { progress, example, arriving, toOwn, hasReachedOwn } = data;
  const { sink, own, tenant, sent } = progress;
  const hasArrived = arriving?.state === "success";
  const send = {
    title: t.publishEvent,
    isDone: sent !== null,
    content: <SendEvent tenant={tenant} example={example} sent={sent} />,
  };
  const arrive = {
    title: sink === null ? t.arrive : t.arriveAtSink,
    isDone: hasArrived,
    content:
      sent === null ? (
        <p className="text-muted">{t.notYet}</p>
      ) : arriving === null ? (
        <p>
          {t.eventMatchedNone}{" "}
          <IdLink to="/events/$id" id={sent.id}>
            {t.whyUnmatched}
          </IdLink>
        </p>
      ) : (
        <Arrival delivery={arriving.id} arrived={t.arrived} />
      ),
  };
  const addOwn = {
    title: t.own,
    isDone: hasReachedOwn,
    content: <OwnEndpoint tenant={tenant} own={own} newest={toOwn} />,
  };
  const steps = sink === null ? [addOwn, send, arrive] : [send, arrive, addOwn];
  return (
    <Page
      title={t.gettingStarted}
      lead={<p className="max-w-prose">{sink === null ? t.withoutSink : t.withSink}</p>}
    >
      <ol className="flex flex-col gap-4">
        {steps.map(({ title, isDone, content }, index) => (
          <Step key={title} number={index + 1} title={title} isDone={isDone}>
            {content}
          </Step>
        ))}
      </ol>
      {steps.every(({ isDone }) => isDone) && (
        <div role="status" className="flex flex-wrap items-center gap-3">
          <p className="font-semibold">{t.allDone}</p>
          <Link to="/" className={buttonClass("primary")}>
            {t.toOverview}
          </Link>
          <Link to="/catalogue" className={buttonClass()}>
            {t.toCatalogue}
          </Link>
        </div>
      )}
    </Page>
  );
}

/** A numbered step with a check mark when it is done. */
function Step({
  number,
  title,
  isDone,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <li aria-labelledby={id} className="min-w-0 rounded-lg border border-line bg-surface p-4">
      <div className="flex items-center gap-3">
        <span
          aria-hidden="true"
          className={`inline-flex size-8 shrink-0 items-center justify-center rounded-full font-semibold ${
            isDone ? "bg-ok-ground text-ok" : "border border-line text-muted"
          }`}
        >
          {isDone ? <Icon name="check" className="size-5" /> : number}
        </span>
        <h2 id={id} className="text-md font-semibold">
          {title}
          <span role="status" className="sr-only">
            {isDone && ` – ${t.done}`}
          </span>
        </h2>
      </div>
      <div className="flex flex-col gap-3 pt-3 sm:pl-11">{children}</div>
    </li>
  );
}
