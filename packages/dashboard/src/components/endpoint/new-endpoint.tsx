// Makes an endpoint for a tenant, and shows its secret this once.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { changesIn, EMPTY_FORM } from "../../format/endpoint-form.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SettingsForm } from "./form/settings-form.tsx";
import { SecretOnce } from "./secret-once.tsx";

const texts = defineTexts({
  en: { title: "New endpoint", make: "Make it", madeTitle: "The endpoint is there" },
  de: { title: "Neuer Endpunkt", make: "Anlegen", madeTitle: "Der Endpunkt ist angelegt" },
});

type NewEndpointInput = Parameters<typeof api.endpoints.create>[0]["body"];

export function NewEndpoint({
  tenant,
  onClose,
  onMade,
}: {
  readonly tenant: string;
  readonly onClose: () => void;
  /** Once its secret was seen. */
  readonly onMade: (id: string) => void;
}) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const [form, setForm] = useState({ ...EMPTY_FORM, events: "*" });
  const [made, setMade] = useState<{ readonly id: string; readonly secret: string } | null>(null);
  const { isBusy, problems, submit } = useSubmission();
  const make = () =>
    submit(async () => {
      const body = { url: "", events: [], ...changesIn(form, EMPTY_FORM) } as NewEndpointInput;
      setMade(await api.endpoints.create({ tenant, body }));
      await queries.invalidateQueries({ queryKey: ["endpoints"] });
    });
  if (made !== null) {
    return (
      <Dialog title={t.madeTitle} isOpen onClose={() => onMade(made.id)}>
        <SecretOnce endpoint={made.id} secret={made.secret} />
      </Dialog>
    );
  }
  return (
    <Dialog
      title={t.title}
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" type="submit" form="new-endpoint" isBusy={isBusy}>
          {t.make}
        </Button>
      }
    >
      <SettingsForm
        id="new-endpoint"
        form={form}
        before={EMPTY_FORM}
        onChange={setForm}
        onSubmit={() => void make()}
        problems={problems}
        isNew
      />
    </Dialog>
  );
}
