// The secrets of an endpoint and their rotation.
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
import { showToast } from "../ui/toasts.tsx";
import { NewSecret } from "./new-secret.tsx";

const texts = defineTexts({
  en: {
    title: "Secrets",
    hint: "Deliveries are signed with every valid secret, so receivers need to know only one of them. A scheme with its own secrets uses only those.",
    current: "current",
    old: "expiring",
    ofScheme: (scheme: string) => `only for ${scheme}`,
    made: "Created",
    ends: "Expires in",
    rotate: "Rotate",
    rotateTitle: "Rotate secret",
    rotateHint:
      "Creates a new secret. During the overlap, deliveries are signed with both, so the receiver can switch without rejecting any.",
    forWhich: "Scheme",
    forAll: "all schemes without their own secret",
    own: "Custom secret",
    ownHint: "Optional. Empty generates a secret.",
    given: "Saved. Used from the next attempt.",
    overlap: "Keep the old secret for",
    overlaps: {
      604800: "7 days",
      1209600: "14 days",
      86400: "1 day",
      3600: "1 hour",
      0: "0: revoke it immediately",
    } as Record<number, string>,
    rotatedTitle: "New secret",
    end: "Revoke",
    endTitle: "Revoke the old secret?",
    endHint:
      "From the next attempt, deliveries are no longer signed with it. Receivers that know only this secret will reject them.",
    ended: "Secret revoked.",
  },
  de: {
    title: "Secrets",
    hint: "Zustellungen werden mit jedem gültigen Secret signiert; Empfänger müssen nur eines kennen. Ein Verfahren mit eigenen Secrets verwendet nur diese.",
    current: "aktuell",
    old: "läuft aus",
    ofScheme: (scheme: string) => `nur für ${scheme}`,
    made: "Erstellt",
    ends: "Läuft ab in",
    rotate: "Rotieren",
    rotateTitle: "Secret rotieren",
    rotateHint:
      "Erzeugt ein neues Secret. Während der Übergangszeit wird mit beiden signiert, damit der Empfänger ohne Ablehnungen umstellen kann.",
    forWhich: "Verfahren",
    forAll: "alle Verfahren ohne eigenes Secret",
    own: "Eigenes Secret",
    ownHint: "Optional. Leer: Ein Secret wird erzeugt.",
    given: "Gespeichert. Gilt ab dem nächsten Versuch.",
    overlap: "Altes Secret behalten für",
    overlaps: {
      604800: "7 Tage",
      1209600: "14 Tage",
      86400: "1 Tag",
      3600: "1 Stunde",
      0: "0: sofort widerrufen",
    } as Record<number, string>,
    rotatedTitle: "Neues Secret",
    end: "Widerrufen",
    endTitle: "Altes Secret widerrufen?",
    endHint:
      "Ab dem nächsten Versuch wird nicht mehr damit signiert. Empfänger, die nur dieses Secret kennen, lehnen Zustellungen dann ab.",
    ended: "Secret widerrufen.",
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
    // refetches when a secret expires
    refetchInterval: ({ state }) => untilNextEnd(state.data?.data ?? []),
  });
  const reload = useReload(id);
  const end = async (secret: EndpointSecret) => {
    await api.endpoints.revokeSecret({ tenant, endpoint: id, secret: secret.id });
    showToast(t.ended);
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
      showToast(t.given);
      onClose();
    });
  if (secret !== null) {
    return (
      <Dialog title={t.rotatedTitle} isOpen onClose={onClose}>
        <NewSecret endpoint={endpoint.id} secret={secret} />
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
