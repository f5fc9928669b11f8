// A button that exports what a list's filters match, as a file.
import type { PosthornClient } from "@posthorn/client/web";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { download } from "../../api/download.ts";
import type { Filters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog, DialogButton, useClose } from "../ui/dialog.tsx";
import { Choice } from "../ui/field.tsx";
import { showError } from "../ui/toasts.tsx";

const t = defineTexts({
  export: ["Export …", "Exportieren …"],
  title: ["Export", "Export"],
  rows: ["Rows", "Zeilen"],
  format: ["Format", "Format"],
  ndjson: ["NDJSON: one JSON object per line", "NDJSON: ein JSON-Objekt pro Zeile"],
  csv: ["CSV: for spreadsheets", "CSV: für Tabellenkalkulationen"],
  hint: [
    "Exports everything that the filters match, newest first. For millions of rows use the command line: posthorn export.",
    "Exportiert alles, was zu den Filtern passt, das Neueste zuerst. Für Millionen von Zeilen eignet sich die Kommandozeile: posthorn export.",
  ],
  save: ["Export", "Exportieren"],
});

export type Exported = keyof PosthornClient["exports"];

/** The filters of each export, and the name of its file. */
const EXPORTS: Readonly<Record<Exported, { readonly file: string; readonly filters: readonly string[] }>> = {
  events: { file: "events", filters: ["type", "subject"] },
  deliveries: { file: "deliveries", filters: ["endpoint", "state", "type", "reason"] },
  attempts: { file: "attempts", filters: ["endpoint", "type"] },
  deadLetters: { file: "dead-letters", filters: ["endpoint", "type", "reason"] },
  auditLog: { file: "audit-log", filters: ["action"] },
};
const COMMON = ["tenant", "created_after", "created_before"];

interface ExportProps {
  /** The first one is selected. */
  readonly of: readonly [Exported, ...Exported[]];
  readonly filters: Filters;
}

export function ExportButton(props: ExportProps) {
  return (
    <DialogButton label={t.export}>
      <ExportDialog {...props} />
    </DialogButton>
  );
}

function ExportDialog({ of, filters }: ExportProps) {
  const names: Readonly<Record<Exported, string>> = {
    events: t.events,
    deliveries: t.deliveries,
    attempts: t.attempts,
    deadLetters: t.deadLetters,
    auditLog: t.auditLog,
  };
  const close = useClose();
  const [name, setName] = useState<Exported>(of[0]);
  const [format, setFormat] = useState<"ndjson" | "csv">("csv");
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      await exportFile(name, format, filters);
      close();
    } catch (error) {
      showError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t.title}
      actions={
        <Button kind="primary" isBusy={isBusy} onClick={() => void save()}>
          {t.save}
        </Button>
      }
    >
      {of.length > 1 && (
        <Choice
          label={t.rows}
          options={of.map((one) => [one, names[one]] as const)}
          value={name}
          onChange={({ target }) => setName(target.value as Exported)}
        />
      )}
      <Choice
        label={t.format}
        options={[
          ["csv", t.csv],
          ["ndjson", t.ndjson],
        ]}
        value={format}
        onChange={({ target }) => setFormat(target.value as "ndjson" | "csv")}
      />
      <p className="text-muted">{t.hint}</p>
    </Dialog>
  );
}

/** An export that breaks off is an error, not a shorter file. */
async function exportFile(name: Exported, format: "ndjson" | "csv", filters: Filters): Promise<void> {
  const { file, filters: known } = EXPORTS[name];
  const asked = Object.entries(filters).filter(([filter]) => [...COMMON, ...known].includes(filter));
  const response = await api.exports[name]({ query: { ...Object.fromEntries(asked), format } });
  download(await response.blob(), `${file}.${format}`);
}
