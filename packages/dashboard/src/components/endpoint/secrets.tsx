// Which secrets an endpoint's deliveries are signed with, how long the old ones still hold, and the change to a new one.
import type { Endpoint, EndpointSecret } from "@posthorn/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Countdown } from "../ui/countdown.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Choice, TextField } from "../ui/field.tsx";
import { Panel } from "../ui/panel.tsx";
import { ProblemList } from "../ui/problem-list.tsx";
import { Failed, Loading } from "../ui/states.tsx";
import { Ago } from "../ui/time.tsx";
import { say } from "../ui/toasts.tsx";
import { SecretOnce } from "./secret-once.tsx";

const texts = defineTexts({
  en: {
    title: "Secrets",
    hint: "Each scheme signs with every secret of its own in this list, or, where it has none, with those that are for all. A receiver that knows one of them is content.",
    current: "current",
    old: "on its way out",
    ofScheme: (scheme: string) => `for ${scheme} alone`,
    made: "Made",
    ends: "Ends in",
    rotate: "Rotate",
    rotateTitle: "Rotate the secret",
    rotateHint:
      "A new secret is made. The old one signs beside it for a while, so that the receiver can change over without missing anything.",
    forWhich: "For",
    forAll: "every scheme that has none of its own",
    own: "A secret of your own",
    ownHint: "What receivers have already, or are about to get. Left empty: one is made.",
    given: "It signs with that from the next attempt on.",
    overlap: "The old one stays valid for",
    overlaps: {
      604800: "7 days",
      1209600: "14 days",
      86400: "a day",
      3600: "an hour",
      0: "not at all: it is revoked at once",
    } as Record<number, string>,
    rotatedTitle: "The new secret",
    end: "End now",
    endTitle: "End the old secret now?",
    endHint:
      "From the next attempt on nothing is signed with it. A receiver that knows no other refuses what comes.",
    ended: "It signs no more.",
  },
  de: {
    title: "Geheimnisse",
    hint: "Jedes Verfahren signiert mit allen eigenen Geheimnissen dieser Liste, oder, wenn es keine hat, mit denen für alle. Einem Empfänger genügt eines davon.",
    current: "gilt",
    old: "läuft aus",
    ofScheme: (scheme: string) => `nur für ${scheme}`,
    made: "Angelegt",
    ends: "Endet in",
    rotate: "Wechseln",
    rotateTitle: "Geheimnis wechseln",
    rotateHint:
      "Ein neues Geheimnis wird erzeugt. Das alte signiert noch eine Weile mit, damit der Empfänger umstellen kann, ohne etwas zu verpassen.",
    forWhich: "Für",
    forAll: "alle Verfahren ohne ein eigenes",
    own: "Ein eigenes Geheimnis",
    ownHint: "Was Empfänger schon haben oder gleich bekommen. Leer: es wird eines erzeugt.",
    given: "Damit wird ab dem nächsten Versuch signiert.",
    overlap: "Das alte gilt noch",
    overlaps: {
      604800: "7 Tage",
      1209600: "14 Tage",
      86400: "einen Tag",
      3600: "eine Stunde",
      0: "gar nicht: es wird sofort widerrufen",
    } as Record<number, string>,
    rotatedTitle: "Das neue Geheimnis",
    end: "Jetzt beenden",
    endTitle: "Das alte Geheimnis jetzt beenden?",
    endHint:
      "Ab dem nächsten Versuch wird nichts mehr damit signiert. Ein Empfänger, der kein anderes kennt, weist ab, was kommt.",
    ended: "Es signiert nicht mehr.",
  },
});

const OVERLAPS = [604_800, 1_209_600, 86_400, 3_600, 0];

export function EndpointSecrets({ endpoint }: { readonly endpoint: Endpoint }) {
  const t = useTexts(texts);
  const { tenant, id } = endpoint;
  const [isRotating, setRotating] = useState(false);
  const [ending, setEnding] = useState<EndpointSecret | null>(null);
  const query = useQuery({
    queryKey: ["secrets", id],
    queryFn: ({ signal }) => api.endpoints.listSecrets({ tenant, endpoint: id, signal }),
    // one that has ended leaves the list by itself
    refetchInterval: ({ state }) => untilNextEnd(state.data?.data ?? []),
  });
  const reload = useReload(id);
  const end = async (secret: EndpointSecret) => {
    await api.endpoints.revokeSecret({ tenant, endpoint: id, secret: secret.id });
    say(t.ended);
    await reload();
  };
  return (
    <Panel
      title={t.title}
      actions={
        <Button icon="retry" onClick={() => setRotating(true)}>
          {t.rotate}
        </Button>
      }
    >
      <p className="pb-3 text-muted">{t.hint}</p>
      {query.isPending && <Loading />}
      {query.error !== null && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      <ul className="flex flex-col gap-2">
        {query.data?.data.map((secret) => (
          <li
            key={secret.id}
            className="flex flex-wrap items-center gap-x-4 gap-y-1 rounded-md border border-line px-3 py-2"
          >
            <Badge tone={secret.is_current ? "ok" : "warn"} icon={secret.is_current ? "check" : "clock"}>
              {secret.is_current ? t.current : t.old}
            </Badge>
            {secret.scheme !== null && <span>{t.ofScheme(secret.scheme)}</span>}
            <span className="text-muted">
              {t.made} <Ago at={secret.created_at} />
            </span>
            {secret.expires_at !== null && (
              <>
                <span className="text-warn">
                  {t.ends} <Countdown until={secret.expires_at} />
                </span>
                <Button kind="quiet" className="ml-auto" onClick={() => setEnding(secret)}>
                  {t.end}
                </Button>
              </>
            )}
          </li>
        ))}
      </ul>
      {isRotating && <Rotate endpoint={endpoint} onClose={() => setRotating(false)} />}
      {ending !== null && (
        <Confirm
          title={t.endTitle}
          action={t.end}
          typed={new URL(endpoint.url).host}
          onConfirm={() => end(ending)}
          onClose={() => setEnding(null)}
        >
          <p>{t.endHint}</p>
        </Confirm>
      )}
    </Panel>
  );
}

const LONGEST_WAIT_MS = 60_000;

function untilNextEnd(secrets: readonly EndpointSecret[]): number | false {
  const ends = secrets.flatMap(({ expires_at }) => (expires_at === null ? [] : Date.parse(expires_at)));
  if (ends.length === 0) return false;
  return Math.min(LONGEST_WAIT_MS, Math.max(1_000, Math.min(...ends) - Date.now()));
}

function useReload(id: string): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ["secrets", id] });
}

function Rotate({ endpoint, onClose }: { readonly endpoint: Endpoint; readonly onClose: () => void }) {
  const t = useTexts(texts);
  const [overlap, setOverlap] = useState(OVERLAPS[0] as number);
  const [scheme, setScheme] = useState("");
  const [own, setOwn] = useState("");
  const [secret, setSecret] = useState<string | null>(null);
  const { isBusy, problems, submit } = useSubmission();
  const reload = useReload(endpoint.id);
  const { schemes } = endpoint.signature;
  const rotate = () =>
    submit(async () => {
      const { tenant, id } = endpoint;
      const given = own.trim();
      const body = {
        overlap_seconds: overlap,
        ...(scheme !== "" && { scheme }),
        ...(given !== "" && { secret: given }),
      };
      const rotated = await api.endpoints.rotateSecret({ tenant, endpoint: id, body });
      await reload();
      if (given === "") return setSecret(rotated.secret);
      say(t.given);
      onClose();
    });
  if (secret !== null) {
    return (
      <Dialog title={t.rotatedTitle} isOpen onClose={onClose}>
        <SecretOnce endpoint={endpoint.id} secret={secret} />
      </Dialog>
    );
  }
  return (
    <Dialog
      title={t.rotateTitle}
      isOpen
      onClose={onClose}
      actions={
        <Button kind={overlap === 0 ? "danger" : "primary"} isBusy={isBusy} onClick={() => void rotate()}>
          {t.rotate}
        </Button>
      }
    >
      <p>{t.rotateHint}</p>
      <ProblemList problems={problems.elsewhere(["/scheme", "/secret"])} />
      {schemes.length > 1 && (
        <Choice
          label={t.forWhich}
          value={scheme}
          problem={problems.at("/scheme")}
          onChange={(event) => setScheme(event.target.value)}
        >
          <option value="">{t.forAll}</option>
          {schemes.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Choice>
      )}
      <TextField
        label={t.own}
        hint={t.ownHint}
        type="password"
        autoComplete="new-password"
        value={own}
        problem={problems.at("/secret")}
        onChange={(event) => setOwn(event.target.value)}
      />
      <Choice label={t.overlap} value={overlap} onChange={(event) => setOverlap(Number(event.target.value))}>
        {OVERLAPS.map((seconds) => (
          <option key={seconds} value={seconds}>
            {t.overlaps[seconds]}
          </option>
        ))}
      </Choice>
    </Dialog>
  );
}
