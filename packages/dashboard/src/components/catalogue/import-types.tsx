// Imports event types from an OpenAPI document, after a preview.
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts } from "../../app/texts.ts";
import { readJson } from "../../format/json-text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog, useClose } from "../ui/dialog.tsx";
import { ProblemList, TextArea, TextField } from "../ui/field.tsx";
import { showToast } from "../ui/toasts.tsx";

const t = defineTexts({
  title: ["Import from OpenAPI", "Aus OpenAPI importieren"],
  hint: [
    "Imports all webhooks of an OpenAPI 3.1 document in JSON.",
    "Importiert alle Webhooks eines OpenAPI-3.1-Dokuments in JSON.",
  ],
  file: ["File", "Datei"],
  document: ["Document", "Dokument"],
  look: ["Preview", "Vorschau"],
  lookFirst: ["Preview the changes first.", "Zeigen Sie zuerst die Vorschau an."],
  empty: ["Choose a file or paste the document.", "Wählen Sie eine Datei oder fügen Sie das Dokument ein."],
  preview: ["Changes", "Änderungen"],
  created: ["new", "neu"],
  updated: ["updated", "aktualisiert"],
  unchanged: ["unchanged", "unverändert"],
  done: [
    "{count} event {count|type|types} imported.",
    "{count} {count|Ereignistyp|Ereignistypen} importiert.",
  ],
});

type Imported = Awaited<ReturnType<typeof api.eventTypes.import>>["data"];
const TONES: Record<Imported[number]["change"], Tone> = {
  created: "ok",
  updated: "warn",
  unchanged: "plain",
};

export function ImportTypes() {
  const close = useClose();
  const [text, setText] = useState("");
  const [preview, setPreview] = useState<Imported | null>(null);
  const { isBusy, problems, submit } = useSubmission();
  const read = readJson(text);
  const disabledReason = !read.ok ? t.notJson : read.value === undefined ? t.empty : undefined;
  const change = (next: string) => {
    setText(next);
    setPreview(null);
  };
  const send = async (isDryRun: boolean) => {
    const document = (read.ok ? read.value : {}) as Record<string, unknown>;
    const { data } = await api.eventTypes.import({ body: { document, dry_run: isDryRun } });
    return data;
  };
  const loadPreview = () => submit(async () => setPreview(await send(true)));
  const runImport = () =>
    submit(async () => {
      const done = await send(false);
      showToast(t.done({ count: done.filter(({ change: what }) => what !== "unchanged").length }));
      close();
    });
  return (
    <Dialog
      title={t.title}
      actions={
        <>
          <Button isBusy={isBusy} disabledReason={disabledReason} onClick={() => void loadPreview()}>
            {t.look}
          </Button>
          <Button
            kind="primary"
            isBusy={isBusy}
            disabledReason={preview === null ? t.lookFirst : undefined}
            onClick={() => void runImport()}
          >
            {t.import}
          </Button>
        </>
      }
    >
      <p className="text-muted">{t.hint}</p>
      <TextField
        label={t.file}
        type="file"
        accept=".json,application/json"
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file) void file.text().then(change);
        }}
      />
      <TextArea
        label={t.document}
        value={text}
        problem={read.ok ? undefined : read.problem}
        onChange={(event) => change(event.target.value)}
      />
      <ProblemList problems={problems.elsewhere([])} />
      {preview !== null && (
        <section aria-label={t.preview} className="flex flex-col gap-1">
          <h3 className="font-medium">{t.preview}</h3>
          <ul className="flex flex-col gap-1">
            {preview.map(({ name, api_version, change: what }) => (
              <li key={`${name}:${api_version}`} className="flex flex-wrap items-center gap-2">
                <Badge tone={TONES[what]}>{t[what]}</Badge>
                <code className="font-mono text-xs">{name}</code>
                <span className="text-xs text-muted">{api_version}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </Dialog>
  );
}
