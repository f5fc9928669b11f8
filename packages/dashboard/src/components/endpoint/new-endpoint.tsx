// Creates an endpoint and shows its secret once.
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts } from "../../app/texts.ts";
import { changesIn, EMPTY_FORM } from "../../format/endpoint-form.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SettingsForm } from "./form/settings-form.tsx";
import { NewSecret } from "./new-secret.tsx";
import { UrlWarningList } from "./url-warnings.tsx";

const t = defineTexts({
  createdTitle: ["Endpoint created", "Endpunkt erstellt"],
});

type NewEndpointInput = Parameters<typeof api.endpoints.create>[0]["body"];
type NewEndpointOutput = Awaited<ReturnType<typeof api.endpoints.create>>;

export function NewEndpoint({
  tenant,
  onCreated,
}: {
  readonly tenant: string;
  /** Called after the secret was shown. */
  readonly onCreated: (id: string) => void;
}) {
  const [form, setForm] = useState({ ...EMPTY_FORM, events: "*" });
  const [created, setCreated] = useState<NewEndpointOutput | null>(null);
  const { isBusy, problems, submit } = useSubmission();
  const make = () =>
    submit(async () => {
      const body = { url: "", events: [], ...changesIn(form, EMPTY_FORM) } as NewEndpointInput;
      setCreated(await api.endpoints.create({ tenant, body }));
    });
  if (created !== null) {
    return (
      <Dialog title={t.createdTitle} onClose={() => onCreated(created.id)}>
        <UrlWarningList warnings={created.warnings} />
        <NewSecret endpoint={created.id} secret={created.secret} />
      </Dialog>
    );
  }
  return (
    <Dialog
      title={t.newEndpoint}
      actions={
        <Button kind="primary" type="submit" form="new-endpoint" isBusy={isBusy}>
          {t.create}
        </Button>
      }
    >
      <SettingsForm
        id="new-endpoint"
        form={form}
        before={EMPTY_FORM}
        onChange={setForm}
        onSubmit={make}
        problems={problems}
        isNew
      />
    </Dialog>
  );
}
