// The form for a new, changed or further version of an event type.
import type { EventType } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { useUndoable } from "../../api/undo.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { bodyOfType, type EventTypeForm, formOfType } from "../../format/event-type-form.ts";
import { readJson } from "../../format/json-text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextArea, TextField, Tick } from "../ui/field.tsx";
import { ProblemList } from "../ui/problem-list.tsx";
import { showToast } from "../ui/toasts.tsx";

const texts = defineTexts({
  en: {
    name: "Name",
    nameHint: "Lower-case words separated by dots, for example order.paid.",
    version: "Version",
    versionHint: "Each version has its own schema. Existing versions are kept.",
    description: "Description",
    schema: "JSON Schema of the data",
    schemaHint: "Empty accepts any data.",
    example: "Example",
    exampleHint: "Optional. Must match the schema.",
    redact: "Redacted paths",
    redactHint: "JSON Pointers, one per line; * matches every item, for example /cards/*/number.",
    deprecated: "Deprecated",
    deprecatedHint: "Marks the type as outdated. Its events are still accepted and delivered.",
    save: "Save",
    saved: (name: string) => `${name} saved.`,
    notJson: "The schema or the example is not valid JSON.",
  },
  de: {
    name: "Name",
    nameHint: "Kleingeschriebene Wörter, durch Punkte getrennt, zum Beispiel order.paid.",
    version: "Version",
    versionHint: "Jede Version hat ihr eigenes Schema. Bestehende Versionen bleiben erhalten.",
    description: "Beschreibung",
    schema: "JSON-Schema der Daten",
    schemaHint: "Leer: beliebige Daten.",
    example: "Beispiel",
    exampleHint: "Optional. Muss dem Schema entsprechen.",
    redact: "Maskierte Pfade",
    redactHint: "JSON Pointer, einer pro Zeile; * steht für jedes Element, zum Beispiel /cards/*/number.",
    deprecated: "Veraltet",
    deprecatedHint:
      "Kennzeichnet den Typ als veraltet. Seine Ereignisse werden weiterhin angenommen und zugestellt.",
    save: "Speichern",
    saved: (name: string) => `${name} gespeichert.`,
    notJson: "Das Schema oder das Beispiel ist kein gültiges JSON.",
  },
});

const POINTERS = ["/name", "/api_version", "/description", "/schema", "/example", "/redact", "/deprecated"];

export function TypeForm({
  title,
  initial,
  onClose,
  onSaved,
}: {
  readonly title: string;
  /** An empty name creates a new type. */
  readonly initial: EventTypeForm;
  readonly onClose: () => void;
  readonly onSaved: (name: string, version: string) => void;
}) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const undoable = useUndoable();
  const [form, setForm] = useState(initial);
  const { isBusy, problems, submit } = useSubmission();
  const body = bodyOfType(form);
  const field = (name: Exclude<keyof EventTypeForm, "isDeprecated">, pointer: string) => ({
    value: form[name],
    problem: problems.at(pointer),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      setForm({ ...form, [name]: event.target.value }),
  });
  const jsonField = (name: "schema" | "example", pointer: string) => {
    const read = readJson(form[name]);
    return { ...field(name, pointer), ...(!read.ok && { problem: read.problem }) };
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (body === null) return;
    const name = form.name.trim();
    const isDone = await submit(async () => {
      const after = contentOf(await api.eventTypes.put({ name, body }));
      const before = bodyOfType(initial);
      const isChange = initial.name === name && before?.api_version === body.api_version;
      if (!isChange || before === null) return showToast(t.saved(name));
      undoable(t.saved(name), {
        after,
        read: async () =>
          contentOf(await api.eventTypes.get({ name, query: { api_version: body.api_version } })),
        revert: () => api.eventTypes.put({ name, body: before }),
      });
    });
    if (!isDone) return;
    await queries.invalidateQueries();
    onSaved(name, body.api_version);
  };
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      actions={
        <Button
          kind="primary"
          type="submit"
          form="event-type"
          isBusy={isBusy}
          disabledReason={body === null ? t.notJson : undefined}
        >
          {t.save}
        </Button>
      }
    >
      <form id="event-type" onSubmit={(event) => void save(event)} className="grid gap-3 sm:grid-cols-2">
        <div className="sm:col-span-2">
          <ProblemList problems={problems.elsewhere(POINTERS)} />
        </div>
        {initial.name === "" && (
          <TextField label={t.name} hint={t.nameHint} required {...field("name", "/name")} />
        )}
        <TextField label={t.version} hint={t.versionHint} required {...field("apiVersion", "/api_version")} />
        <div className="flex flex-col gap-3 sm:col-span-2">
          <TextField label={t.description} {...field("description", "/description")} />
          <TextArea label={t.schema} hint={t.schemaHint} {...jsonField("schema", "/schema")} />
          <TextArea label={t.example} hint={t.exampleHint} rows={5} {...jsonField("example", "/example")} />
          <TextArea label={t.redact} hint={t.redactHint} rows={2} {...field("redact", "/redact")} />
          <Tick
            label={t.deprecated}
            hint={t.deprecatedHint}
            checked={form.isDeprecated}
            onChange={(event) => setForm({ ...form, isDeprecated: event.target.checked })}
          />
        </div>
      </form>
    </Dialog>
  );
}

/** The editable fields of a type. */
function contentOf(type: EventType) {
  return bodyOfType(formOfType(type));
}
