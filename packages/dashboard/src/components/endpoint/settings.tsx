// Edits the settings of an endpoint; sends only the changed ones.
import type { Endpoint } from "@posthorn/client";
import { useState } from "react";
import { useEndpointChanges } from "../../api/endpoints.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts } from "../../app/texts.ts";
import { changesIn, formOf } from "../../format/endpoint-form.ts";
import { Button } from "../ui/button.tsx";
import { Panel } from "../ui/page.tsx";
import { SettingsForm } from "./form/settings-form.tsx";

const t = defineTexts({
  saved: ["Saved. Applies from the next attempt.", "Gespeichert. Gilt ab dem nächsten Versuch."],
  undo: ["Discard changes", "Änderungen verwerfen"],
});

export function EndpointSettings({ endpoint }: { readonly endpoint: Endpoint }) {
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
      title={t.settings}
      actions={
        <>
          {!isSame && <Button onClick={() => begin(endpoint)}>{t.undo}</Button>}
          <Button
            kind="primary"
            type="submit"
            form="endpoint-settings"
            isBusy={isBusy}
            disabledReason={isSame ? t.noChanges : undefined}
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
        onSubmit={save}
        problems={problems}
      />
    </Panel>
  );
}
