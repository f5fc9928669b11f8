// The form for a new, changed or further version of an event type.
import type { EventType } from "@posthorn/client";
import { api } from "../../api/client.ts";
import { useUndoable } from "../../api/undo.ts";
import { defineTexts } from "../../app/texts.ts";
import { bodyOfType, type EventTypeForm, formOfType } from "../../format/event-type-form.ts";
import { readJson } from "../../format/json-text.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { TextArea, TextField, Tick, useForm } from "../ui/field.tsx";
import { showToast } from "../ui/toasts.tsx";

const t = defineTexts({
  nameHint: [
    "Lower-case words separated by dots, for example order.paid.",
    "Kleingeschriebene Wörter, durch Punkte getrennt, zum Beispiel order.paid.",
  ],
  versionHint: [
    "Each version has its own schema. Existing versions are kept. Empty uses the default version of the deployment.",
    "Jede Version hat ihr eigenes Schema. Bestehende Versionen bleiben erhalten. Leer: die Standardversion der Installation.",
  ],
  schemaHint: ["Empty accepts any data.", "Leer: beliebige Daten."],
  exampleHint: ["Optional. Must match the schema.", "Optional. Muss dem Schema entsprechen."],
  redact: ["Redacted paths", "Maskierte Pfade"],
  redactHint: [
    "JSON Pointers, one per line; * matches every item, for example /cards/*/number.",
    "JSON Pointer, einer pro Zeile; * steht für jedes Element, zum Beispiel /cards/*/number.",
  ],
  deprecated: ["Deprecated", "Veraltet"],
  deprecatedHint: [
    "Marks the type as outdated. Its events are still accepted and delivered.",
    "Kennzeichnet den Typ als veraltet. Seine Ereignisse werden weiterhin angenommen und zugestellt.",
  ],
  saved: ["{name} saved.", "{name} gespeichert."],
  notJson: [
    "The schema or the example is not valid JSON.",
    "Das Schema oder das Beispiel ist kein gültiges JSON.",
  ],
});

export function TypeForm({
  title,
  initial,
  onSaved,
}: {
  readonly title: string;
  /** An empty name creates a new type. */
  readonly initial: EventTypeForm;
  readonly onSaved: (name: string, version: string) => void;
}) {
  const undoable = useUndoable();
  const state = useForm(initial);
  const { form, setForm, field } = state;
  const body = bodyOfType(form);
  const jsonField = (name: "schema" | "example") => {
    const read = readJson(form[name]);
    return { ...field(name), ...(!read.ok && { problem: read.problem }) };
  };
  const save = async () => {
    if (body === null) return;
    const name = form.name.trim();
    const saved = await api.eventTypes.put({ name, body });
    const { api_version } = saved;
    const after = contentOf(saved);
    const before = bodyOfType(initial);
    if (before === null || initial.name !== name || before.api_version !== api_version)
      showToast(t.saved({ name }));
    else
      undoable(t.saved({ name }), {
        after,
        read: async () => contentOf(await api.eventTypes.get({ name, query: { api_version } })),
        revert: () => api.eventTypes.put({ name, body: before }),
      });
    onSaved(name, api_version);
  };
  return (
    <FormDialog
      title={title}
      action={t.save}
      form={state}
      disabledReason={body === null ? t.notJson : undefined}
      className="grid gap-3 sm:grid-cols-2"
      onSubmit={save}
    >
      {initial.name === "" && <TextField label={t.name} hint={t.nameHint} required {...field("name")} />}
      <TextField label={t.version} hint={t.versionHint} {...field("apiVersion")} />
      <div className="flex flex-col gap-3 sm:col-span-2">
        <TextField label={t.description} {...field("description")} />
        <TextArea label={t.schema} hint={t.schemaHint} {...jsonField("schema")} />
        <TextArea label={t.example} hint={t.exampleHint} rows={5} {...jsonField("example")} />
        <TextArea label={t.redact} hint={t.redactHint} rows={2} {...field("redact")} />
        <Tick
          label={t.deprecated}
          hint={t.deprecatedHint}
          checked={form.isDeprecated}
          onChange={(isDeprecated) => setForm({ ...form, isDeprecated })}
        />
      </div>
    </FormDialog>
  );
}

function contentOf(type: EventType) {
  return bodyOfType(formOfType(type));
}
