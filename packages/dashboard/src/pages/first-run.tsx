// The getting-started page: publish an event, see it delivered, add an endpoint.
import { Link } from "@tanstack/react-router";
import { useFirstRun } from "../api/first-run.ts";
import { defineTexts, useTexts } from "../app/texts.ts";
import { Arrival } from "../components/delivery/arrival.tsx";
import { OwnEndpoint } from "../components/first-run/own-endpoint.tsx";
import { SendEvent } from "../components/first-run/send-event.tsx";
import { Step } from "../components/first-run/step.tsx";
import { buttonClass } from "../components/ui/button.tsx";
import { Page } from "../components/ui/panel.tsx";
import { Failed, Loading } from "../components/ui/states.tsx";

const texts = defineTexts({
  en: {
    title: "Getting started",
    withSink: "Publish an event, see it delivered to this server's built-in sink, then to your application.",
    withoutSink:
      "This server has no built-in sink (posthorn dev has one). Add your endpoint first, then publish an event to it.",
    send: "Publish an event",
    arriveAtSink: "See it delivered to the sink",
    arrive: "See it delivered",
    own: "Add your own endpoint",
    notYet: "Done as soon as an event is published and delivered.",
    unmatched: "The event matched no endpoint.",
    whyUnmatched: "Show why",
    arrived: "Delivered.",
    allDone: "All done.",
    toOverview: "Open overview",
    toCatalogue: "Describe your events",
  },
  de: {
    title: "Erste Schritte",
    withSink:
      "Veröffentlichen Sie ein Ereignis und verfolgen Sie die Zustellung an den eingebauten Testempfänger (Sink), dann an Ihre Anwendung.",
    withoutSink:
      "Dieser Server hat keinen eingebauten Testempfänger (posthorn dev hat einen). Fügen Sie zuerst Ihren Endpunkt hinzu und veröffentlichen Sie dann ein Ereignis.",
    send: "Ereignis veröffentlichen",
    arriveAtSink: "Zustellung an den Testempfänger verfolgen",
    arrive: "Zustellung verfolgen",
    own: "Eigenen Endpunkt hinzufügen",
    notYet: "Erledigt, sobald ein Ereignis veröffentlicht und zugestellt ist.",
    unmatched: "Das Ereignis passte zu keinem Endpunkt.",
    whyUnmatched: "Grund anzeigen",
    arrived: "Zugestellt.",
    allDone: "Alles erledigt.",
    toOverview: "Überblick öffnen",
    toCatalogue: "Ereignisse beschreiben",
  },
});

export function FirstRunPage() {
  const t = useTexts(texts);
  const { data, error, refetch, refresh } = useFirstRun();
  if (data === undefined) {
    return error === null ? <Loading /> : <Failed error={error} onRetry={() => void refetch()} />;
  }
  const { progress, example, arriving, toOwn, hasReachedOwn } = data;
  const { sink, own, tenant, sent } = progress;
  const hasArrived = arriving?.state === "success";
  const send = {
    title: t.send,
    isDone: sent !== null,
    content: <SendEvent tenant={tenant} example={example} sent={sent} onSent={refresh} />,
  };
  const arrive = {
    title: sink === null ? t.arrive : t.arriveAtSink,
    isDone: hasArrived,
    content:
      sent === null ? (
        <p className="text-muted">{t.notYet}</p>
      ) : arriving === null ? (
        <p>
          {t.unmatched}{" "}
          <Link to="/events/$id" params={{ id: sent.id }} className="underline">
            {t.whyUnmatched}
          </Link>
        </p>
      ) : (
        <Arrival delivery={arriving.id} arrived={t.arrived} />
      ),
  };
  const addOwn = {
    title: t.own,
    isDone: hasReachedOwn,
    content: <OwnEndpoint tenant={tenant} own={own} newest={toOwn} onChange={refresh} />,
  };
  const steps = sink === null ? [addOwn, send, arrive] : [send, arrive, addOwn];
  return (
    <Page title={t.title} lead={<p className="max-w-prose">{sink === null ? t.withoutSink : t.withSink}</p>}>
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
