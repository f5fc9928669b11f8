// Edits the settings of an endpoint; sends only the changed ones.
import type { Endpoint } from "@posthorn/client";
import { useState } from "react";
import { useEndpointChanges } from "../../api/endpoints.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { changesIn, formOf } from "../../format/endpoint-form.ts";
import { Button } from "../ui/button.tsx";
import { Panel } from "../ui/panel.tsx";
import { SettingsForm } from "./form/settings-form.tsx";

const texts = defineTexts({
  en: {
    title: "Settings",
    save: "Save",
    saved: "Saved. Applies from the next attempt.",
    same: "No changes.",
    undo: "Discard changes",
  },
  de: {
    title: "Einstellungen",
    save: "Speichern",
    saved: "Gespeichert. Gilt ab dem nächsten Versuch.",
    same: "Keine Änderungen.",
    undo: "Änderungen verwerfen",
  },
});

export function EndpointSettings({ endpoint }: { readonly endpoint: Endpoint }) {
  const t = useTexts(texts);
  const { update } = useEndpointChanges();
  // compared with the settings when editing began, so that concurrent changes of others are not reverted
  const [begun, setBegun] = useState(() => formOf(endpoint));
  const [form, setForm] = useState(begun);
  const { isBusy, problems, submit } = useSubmission();
  const changes = changesIn(form, begun);
  const isSame = Object.keys(changes).length === 0;
  const begin = (from: Endpoint) => {
    setBegun(formOf(from));
    setForm(formOf(from));
  };
  if (isSame && !isBusy && Object.keys(changesIn(formOf(endpoint), begun)).length > 0) begin(endpoint);
  const save = async () => {
    if (isSame) return;
    await submit(async () => begin(await update(endpoint, changes, t.saved)));
  };
  return (
    <Panel
      title={t.title}
      actions={
        <>
          {!isSame && <Button onClick={() => begin(endpoint)}>{t.undo}</Button>}
          <Button
            kind="primary"
            type="submit"
            form="endpoint-settings"
            isBusy={isBusy}
            disabledReason={isSame ? t.same : undefined}
          >
            {t.save}
          </Button>
        </>
      }
    >
      <SettingsForm
        id="endpoint-settings"
        form={form}
        before={begun}
        isNew={false}
        onChange={setForm}
        onSubmit={() => void save()}
        problems={problems}
      />
    </Panel>
  );
}
