// Imports event types from an OpenAPI document, after a preview.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { readJson } from "../../format/json-text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextArea, TextField } from "../ui/field.tsx";
import { ProblemList } from "../ui/problem-list.tsx";
import { showToast } from "../ui/toasts.tsx";

const texts = defineTexts({
  en: {
    title: "Import from OpenAPI",
    hint: "Imports all webhooks of an OpenAPI 3.1 document in JSON.",
    file: "File",
    document: "Document",
    look: "Preview",
    lookFirst: "Preview the changes first.",
    import: "Import",
    notJson: "Not valid JSON.",
    empty: "Choose a file or paste the document.",
    preview: "Changes",
    created: "new",
    updated: "updated",
    unchanged: "unchanged",
    done: (count: number) => (count === 1 ? "1 event type imported." : `${count} event types imported.`),
  },
  de: {
    title: "Aus OpenAPI importieren",
    hint: "Importiert alle Webhooks eines OpenAPI-3.1-Dokuments in JSON.",
    file: "Datei",
    document: "Dokument",
    look: "Vorschau",
    lookFirst: "Zeigen Sie zuerst die Vorschau an.",
    import: "Importieren",
    notJson: "Kein gültiges JSON.",
    empty: "Wählen Sie eine Datei oder fügen Sie das Dokument ein.",
    preview: "Änderungen",
    created: "neu",
    updated: "aktualisiert",
    unchanged: "unverändert",
    done: (count: number) =>
      count === 1 ? "1 Ereignistyp importiert." : `${count} Ereignistypen importiert.`,
  },
});

type Imported = Awaited<ReturnType<typeof api.eventTypes.import>>["data"];
const TONES: Record<Imported[number]["change"], Tone> = {
  created: "ok",
  updated: "warn",
  unchanged: "plain",
};

export function ImportTypes({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const [preview, setPreview] = useState<Imported | null>(null);
  const { isBusy, problems, submit } = useSubmission();
  const read = readJson(text);
  const refused = !read.ok ? t.notJson : read.value === undefined ? t.empty : undefined;
  const change = (next: string) => {
    setText(next);
    setPreview(null);
  };
  const send = async (isDryRun: boolean) => {
    const document = (read.ok ? read.value : {}) as Record<string, unknown>;
    const { data } = await api.eventTypes.import({ body: { document, dry_run: isDryRun } });
    return data;
  };
  const look = () => submit(async () => setPreview(await send(true)));
  const take = async () => {
    const isDone = await submit(async () => {
      const done = await send(false);
      showToast(t.done(done.filter(({ change: what }) => what !== "unchanged").length));
    });
    if (!isDone) return;
    onClose();
    await queries.invalidateQueries();
  };
  return (
    <Dialog
      title={t.title}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button isBusy={isBusy} disabledReason={refused} onClick={() => void look()}>
            {t.look}
          </Button>
          <Button
            kind="primary"
            isBusy={isBusy}
            disabledReason={preview === null ? t.lookFirst : undefined}
            onClick={() => void take()}
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
