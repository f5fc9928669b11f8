// The request as sent, and a freshly signed one as a curl command.
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { curlOf } from "../../format/curl.ts";
import { CopyButton } from "../ui/copy.tsx";
import { CodeView } from "../ui/json-view.tsx";
import { Failed, Loading } from "../ui/states.tsx";
import { showError } from "../ui/toasts.tsx";

const texts = defineTexts({
  en: {
    headers: "Request headers",
    body: "Request body",
    curl: "Copy as curl, freshly signed",
    masked: (what: string) => `Redacted: ${what}.`,
  },
  de: {
    headers: "Header der Anfrage",
    body: "Body der Anfrage",
    curl: "Als curl kopieren, neu signiert",
    masked: (what: string) => `Maskiert: ${what}.`,
  },
});

export function RequestView({ delivery, attempt }: { readonly delivery: string; readonly attempt: number }) {
  const t = useTexts(texts);
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["request", delivery, attempt],
    queryFn: ({ signal }) => api.deliveries.request({ delivery, query: { attempt }, signal }),
  });
  if (isPending) return <Loading />;
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  const fresh = async () => {
    try {
      return curlOf(await api.deliveries.request({ delivery, query: { attempt, fresh: true } }));
    } catch (refusal) {
      showError(refusal);
      throw refusal;
    }
  };
  const lines = Object.entries(data.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <div className="flex flex-col gap-2">
      <CodeView label={t.headers} text={[`${data.method} ${data.url}`, ...lines].join("\n")} />
      <CodeView label={t.body} text={data.body} isJson />
      {data.differences.map(({ reason, detail }) => (
        <p key={reason} className="text-xs text-warn">
          {detail}
        </p>
      ))}
      {data.masked.length > 0 && <p className="text-xs text-muted">{t.masked(data.masked.join(", "))}</p>}
      <CopyButton text={fresh} label={t.curl} />
    </div>
  );
}
