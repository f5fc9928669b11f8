// From nothing to one's own webhooks: send an event, see it arrive, add an endpoint. Ticks come as things happen.
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
    title: "First steps",
    withSink:
      "An event goes out, arrives at the sink that this server has for trying things, and then at your program.",
    withoutSink:
      "This server has no sink to try things with, as posthorn dev has: so your endpoint comes first, and the event goes there.",
    send: "Send an event",
    arriveAtSink: "See it arrive at the sink",
    arrive: "See it arrive",
    own: "Add your own endpoint",
    notYet: "The tick comes by itself as soon as an event was sent and has arrived.",
    nobody: "It went to no endpoint.",
    whyNobody: "See why",
    arrived: "It arrived.",
    allDone: "That is all: everything else goes the same way.",
    toOverview: "To the overview",
    toCatalogue: "Describe your events",
  },
  de: {
    title: "Erste Schritte",
    withSink:
      "Ein Ereignis geht hinaus, kommt an der Senke an, die dieser Server zum Ausprobieren hat, und dann bei Ihrem Programm.",
    withoutSink:
      "Dieser Server hat keine Senke zum Ausprobieren wie posthorn dev: Darum kommt Ihr Endpunkt zuerst, und das Ereignis geht dorthin.",
    send: "Ein Ereignis senden",
    arriveAtSink: "Sehen, wie es an der Senke ankommt",
    arrive: "Sehen, wie es ankommt",
    own: "Den eigenen Endpunkt hinzufügen",
    notYet: "Der Haken kommt von selbst, sobald ein Ereignis gesendet wurde und angekommen ist.",
    nobody: "Es ging an keinen Endpunkt.",
    whyNobody: "Warum?",
    arrived: "Es kam an.",
    allDone: "Das ist alles: Der Rest geht genauso.",
    toOverview: "Zum Überblick",
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
          {t.nobody}{" "}
          <Link to="/events/$id" params={{ id: sent.id }} className="underline">
            {t.whyNobody}
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
