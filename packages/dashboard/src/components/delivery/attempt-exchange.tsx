// Request and response of an attempt, side by side.
import type { Attempt } from "@posthorn/client";
import { api } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { curlOf } from "../../format/curl.ts";
import { BodyView } from "../ui/body-view.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { CodeView } from "../ui/json-view.tsx";
import { NotLoaded } from "../ui/page.tsx";
import { showError } from "../ui/toasts.tsx";

const t = defineTexts({
  response: ["Response", "Antwort"],
  noResponse: ["No response.", "Keine Antwort."],
  noBody: ["Empty response body.", "Antwort ohne Body."],
  responseBody: ["Response body", "Body der Antwort"],
  cut: ["Only the first 1 KB is stored.", "Nur das erste 1 KB wird gespeichert."],
  headers: ["Request headers", "Header der Anfrage"],
  body: ["Request body", "Body der Anfrage"],
  curl: ["Copy as curl, freshly signed", "Als curl kopieren, neu signiert"],
  redacted: ["Redacted: {what}.", "Maskiert: {what}."],
});

const STORED_BYTES = 1_024;

export function AttemptExchange({
  delivery,
  attempt,
}: {
  readonly delivery: string;
  readonly attempt: Attempt;
}) {
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <section className="min-w-0">
        <h3 className="pb-1 text-sm font-medium">{t.request}</h3>
        <RequestView delivery={delivery} attempt={attempt.number} />
      </section>
      <section className="min-w-0">
        <h3 className="pb-1 text-sm font-medium">
          {t.response}
          {attempt.status_code !== null && ` · HTTP ${attempt.status_code}`}
        </h3>
        <ResponseView attempt={attempt} />
      </section>
    </div>
  );
}

/** The request as sent, and a freshly signed one as a curl command. */
function RequestView({ delivery, attempt }: { readonly delivery: string; readonly attempt: number }) {
  const query = useApi("deliveries.request", { delivery, query: { attempt } });
  if (query.isPending || query.error !== null) return <NotLoaded query={query} />;
  const { data } = query;
  const fresh = async () => {
    try {
      return curlOf(await api.deliveries.request({ delivery, query: { attempt, fresh: true } }));
    } catch (error) {
      showError(error);
      throw error;
    }
  };
  const lines = Object.entries(data.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <div className="flex flex-col items-stretch gap-2">
      <CodeView label={t.headers} text={[`${data.method} ${data.url}`, ...lines].join("\n")} />
      <BodyView label={t.body} text={data.body} />
      {data.differences.map(({ reason, detail }) => (
        <p key={reason} className="text-xs text-warn">
          {detail}
        </p>
      ))}
      {data.redacted_parts.length > 0 && (
        <p className="text-xs text-muted">{t.redacted({ what: data.redacted_parts.join(", ") })}</p>
      )}
      <div>
        <CopyButton text={fresh} label={t.curl} />
      </div>
    </div>
  );
}

function ResponseView({ attempt: { response_body: body, status_code } }: { readonly attempt: Attempt }) {
  if (body === null || body === "")
    return <p className="text-muted">{status_code === null ? t.noResponse : t.noBody}</p>;
  return (
    <>
      <BodyView label={t.responseBody} text={body} />
      {new Blob([body]).size >= STORED_BYTES && <p className="pt-1 text-xs text-muted">{t.cut}</p>}
    </>
  );
}
