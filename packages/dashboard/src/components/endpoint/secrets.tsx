// The secrets of an endpoint and their rotation.
import type { Endpoint, EndpointSecret } from "@posthorn/client";
import { api } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { Badge } from "../ui/badge.tsx";
import { ConfirmButton, DialogButton, FormDialog } from "../ui/dialog.tsx";
import { Choice, TextField, useForm } from "../ui/field.tsx";
import { NotLoaded, Panel } from "../ui/page.tsx";
import { Ago, Countdown } from "../ui/time.tsx";
import { showToast } from "../ui/toasts.tsx";
import { NewSecret } from "./new-secret.tsx";
import { isEncoding, SecretEncodingChoice } from "./secret-encoding.tsx";

const t = defineTexts({
  hint: [
    "Deliveries are signed with every valid secret, so receivers need to know only one of them. A scheme with its own secrets uses only those.",
    "Zustellungen werden mit jedem gültigen Secret signiert; Empfänger müssen nur eines kennen. Ein Verfahren mit eigenen Secrets verwendet nur diese.",
  ],
  current: ["current", "aktuell"],
  old: ["expiring", "läuft ab"],
  ofScheme: ["only for {scheme}", "nur für {scheme}"],
  ends: ["Expires in", "Läuft ab in"],
  rotate: ["Rotate", "Rotieren"],
  rotateTitle: ["Rotate secret", "Secret rotieren"],
  rotateHint: [
    "Creates a new secret. During the overlap, deliveries are signed with both, so the receiver can switch without rejecting any.",
    "Erzeugt ein neues Secret. Während der Übergangszeit wird mit beiden signiert, damit der Empfänger ohne Ablehnungen umstellen kann.",
  ],
  forWhich: ["Scheme", "Verfahren"],
  forAll: ["all schemes without their own secret", "alle Verfahren ohne eigenes Secret"],
  own: ["Custom secret", "Eigenes Secret"],
  ownHint: ["Optional. Empty generates a secret.", "Optional. Leer: Ein Secret wird erzeugt."],
  given: ["Saved. Used from the next attempt.", "Gespeichert. Gilt ab dem nächsten Versuch."],
  overlap: ["Keep the old secret for", "Altes Secret behalten für"],
  overlaps: {
    "604800": ["7 days", "7 Tage"],
    "1209600": ["14 days", "14 Tage"],
    "86400": ["1 day", "1 Tag"],
    "3600": ["1 hour", "1 Stunde"],
    "0": ["0: revoke it immediately", "0: sofort widerrufen"],
  },
  rotatedTitle: ["New secret", "Neues Secret"],
  endTitle: ["Revoke the old secret?", "Altes Secret widerrufen?"],
  endHint: [
    "From the next attempt, deliveries are no longer signed with it. Receivers that know only this secret will reject them.",
    "Ab dem nächsten Versuch wird nicht mehr damit signiert. Empfänger, die nur dieses Secret kennen, lehnen Zustellungen dann ab.",
  ],
  ended: ["Secret revoked.", "Secret widerrufen."],
});

/** In seconds, the default first. */
const OVERLAPS = ["604800", "1209600", "86400", "3600", "0"] as const;

export function EndpointSecrets({ endpoint }: { readonly endpoint: Endpoint }) {
  const { tenant, id } = endpoint;
  const query = useApi(
    "endpoints.listSecrets",
    { tenant, endpoint: id },
    // refetches when a secret expires
    { refetchInterval: ({ state }) => untilNextEnd(state.data?.data ?? []) },
  );
  const end = async (secret: EndpointSecret) => {
    await api.endpoints.revokeSecret({ tenant, endpoint: id, secret: secret.id });
    showToast(t.ended);
  };
  return (
    <Panel
      title={t.secrets}
      actions={
        <DialogButton icon="retry" label={t.rotate}>
          <Rotate endpoint={endpoint} />
        </DialogButton>
      }
    >
      <p className="pb-3 text-muted">{t.hint}</p>
      {(query.isPending || query.error !== null) && <NotLoaded query={query} />}
      <ul className="flex flex-col gap-2">
        {query.data?.data.map((secret) => (
          <li
            key={secret.id}
            className="flex flex-wrap items-center gap-x-4 gap-y-1 rounded-md border border-line px-3 py-2"
          >
            <Badge tone={secret.is_current ? "ok" : "warn"} icon={secret.is_current ? "check" : "clock"}>
              {secret.is_current ? t.current : t.old}
            </Badge>
            {secret.scheme !== null && <span>{t.ofScheme({ scheme: secret.scheme })}</span>}
            <span className="text-muted">
              {t.created} <Ago at={secret.created_at} />
            </span>
            {secret.expires_at !== null && (
              <>
                <span className="text-warn">
                  {t.ends} <Countdown until={secret.expires_at} />
                </span>
                <ConfirmButton
                  kind="quiet"
                  className="ml-auto"
                  title={t.endTitle}
                  action={t.revoke}
                  hint={t.endHint}
                  typed={new URL(endpoint.url).host}
                  onConfirm={() => end(secret)}
                />
              </>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const LONGEST_WAIT_MS = 60_000;

function untilNextEnd(secrets: readonly EndpointSecret[]): number | false {
  const ends = secrets.flatMap(({ expires_at }) => (expires_at === null ? [] : Date.parse(expires_at)));
  if (ends.length === 0) return false;
  return Math.min(LONGEST_WAIT_MS, Math.max(1_000, Math.min(...ends) - Date.now()));
}

function Rotate({ endpoint }: { readonly endpoint: Endpoint }) {
  const state = useForm({ overlap: OVERLAPS[0] as string, scheme: "", secret: "", encoding: "" });
  const { form, field } = state;
  const { schemes } = endpoint.signature;
  const rotate = async () => {
    const { tenant, id } = endpoint;
    const given = form.secret.trim();
    const body = {
      overlap_seconds: Number(form.overlap),
      ...(form.scheme !== "" && { scheme: form.scheme }),
      ...(given !== "" && { secret: given }),
      ...(given !== "" && isEncoding(form.encoding) && { secret_encoding: form.encoding }),
    };
    const { secret } = await api.endpoints.rotateSecret({ tenant, endpoint: id, body });
    if (given === "") return <NewSecret endpoint={id} secret={secret} />;
    return showToast(t.given);
  };
  return (
    <FormDialog
      title={t.rotateTitle}
      action={t.rotate}
      kind={form.overlap === "0" ? "danger" : "primary"}
      form={state}
      resultTitle={t.rotatedTitle}
      onSubmit={rotate}
    >
      <p>{t.rotateHint}</p>
      {schemes.length > 1 && (
        <Choice
          label={t.forWhich}
          none={t.forAll}
          options={schemes.map((name) => [name, name])}
          {...field("scheme")}
        />
      )}
      <TextField
        label={t.own}
        hint={t.ownHint}
        type="password"
        autoComplete="new-password"
        {...field("secret")}
      />
      <SecretEncodingChoice {...field("encoding", "/secret_encoding")} />
      <Choice
        label={t.overlap}
        options={OVERLAPS.map((name) => [name, t.overlaps[name]])}
        {...field("overlap")}
      />
    </FormDialog>
  );
}
