// A button that opens the data of an event for editing, and sends an edited copy to one endpoint.
import type { EventDetail } from "@posthorn/client";
import { hostOf } from "@posthorn/wire";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useEventDataText } from "../../api/event-data.ts";
import { useHasScope } from "../../api/session.ts";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { compactJson, formatJson } from "../../format/format-json.ts";
import { readJson } from "../../format/json-text.ts";
import { Dialog, DialogButton, FormDialog } from "../ui/dialog.tsx";
import { Choice, TextArea, useForm } from "../ui/field.tsx";
import { NotLoaded } from "../ui/page.tsx";

const t = defineTexts({
  edit: ["Edit and resend …", "Bearbeiten und senden …"],
  title: ["Edit and resend {type}", "{type} bearbeiten und senden"],
  hint: [
    "The copy is a new event with its own ID. Only the chosen endpoint receives it, with the header X-Webhook-Edited-From. The original does not change.",
    "Die Kopie ist ein neues Ereignis mit eigener ID. Nur der gewählte Endpunkt erhält sie, mit dem Header X-Webhook-Edited-From. Das Original bleibt unverändert.",
  ],
  send: ["Send copy", "Kopie senden"],
  noEndpoint: ["Choose an endpoint.", "Wählen Sie einen Endpunkt."],
});

const MAX_ENDPOINTS = 250;

interface EditProps {
  readonly event: string;
  readonly type: string;
  readonly tenant: string;
  /** The endpoint that is chosen at first. */
  readonly endpoint: string | undefined;
}

/** Renders nothing for events of Posthorn itself, and for people who may not read the data and change endpoints. */
export function EditAndResend(props: EditProps) {
  const mayManage = useHasScope("webhooks:manage");
  const mayRead = useHasScope("payloads:read");
  if (!mayManage || !mayRead || props.type.startsWith("webhook.")) return null;
  return (
    <DialogButton label={t.edit} icon="send">
      <EditDialog {...props} />
    </DialogButton>
  );
}

function EditDialog(props: EditProps) {
  const event = useApi("events.get", { event: props.event });
  const text = useEventDataText(event.data);
  if (event.data === undefined || text.data === undefined) {
    return (
      <Dialog title={t.title({ type: props.type })}>
        <NotLoaded query={event.error === null ? text : event} />
      </Dialog>
    );
  }
  return <EditForm {...props} loaded={event.data} text={text.data} />;
}

function EditForm({
  loaded,
  text,
  tenant,
  endpoint,
}: EditProps & { readonly loaded: EventDetail; readonly text: string }) {
  const navigate = useNavigate();
  const form = useForm({ endpoint: endpoint ?? "", data: formatJson(text) ?? text });
  const { data: page } = useApi("endpoints.list", { tenant, query: { limit: MAX_ENDPOINTS } });
  const endpoints = page?.data.filter(({ websub }) => websub === null) ?? [];
  const read = readJson(form.form.data);
  const isJson = read.ok && read.value !== undefined;
  const send = async () => {
    const { endpoint: to, data } = form.form;
    const body = { endpoint: to, data_json: compactJson(data) };
    const sent = await api.events.resendEdited({ event: loaded.id, body });
    await navigate({ to: "/deliveries/$id", params: { id: sent.delivery_id } });
  };
  return (
    <FormDialog
      title={t.title({ type: loaded.type })}
      action={t.send}
      form={form}
      disabledReason={form.form.endpoint === "" ? t.noEndpoint : isJson ? undefined : t.notJson}
      onSubmit={send}
    >
      <p className="text-muted">{t.hint}</p>
      <Choice
        label={t.endpoint}
        none="–"
        options={endpoints.map(({ id, name, url }) => [id, name === hostOf(url) ? url : `${name} · ${url}`])}
        {...form.field("endpoint")}
      />
      <TextArea
        label={t.data}
        rows={16}
        {...form.field("data")}
        {...(!read.ok && { problem: read.problem })}
      />
    </FormDialog>
  );
}
