// Disables or enables the selected endpoints.
import type { Endpoint } from "@posthorn/client";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { planSwitch } from "../../format/bulk-plan.ts";
import type { Selection } from "../list/data-table.tsx";
import { Button } from "../ui/button.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { BulkDialog } from "./bulk-dialog.tsx";
import { deselect } from "./selection.ts";

const texts = defineTexts({
  en: {
    disable: "Disable …",
    disableTitle: "Disable selected endpoints",
    disableNow: "Disable",
    disabled: (count: number) =>
      `${count === 1 ? "1 endpoint" : `${count} endpoints`} will be disabled. Deliveries are kept until they are enabled again.`,
    enable: "Enable …",
    enableTitle: "Enable selected endpoints",
    enableNow: "Enable",
    enabled: (count: number) =>
      `${count === 1 ? "1 endpoint" : `${count} endpoints`} will be enabled. The backlog is delivered, oldest first. To discard it instead, enable endpoints individually.`,
    tenants: "Tenants",
    urls: "URLs",
  },
  de: {
    disable: "Deaktivieren …",
    disableTitle: "Ausgewählte Endpunkte deaktivieren",
    disableNow: "Deaktivieren",
    disabled: (count: number) =>
      `${count === 1 ? "1 Endpunkt wird" : `${count} Endpunkte werden`} deaktiviert. Zustellungen werden aufbewahrt, bis sie wieder aktiviert werden.`,
    enable: "Aktivieren …",
    enableTitle: "Ausgewählte Endpunkte aktivieren",
    enableNow: "Aktivieren",
    enabled: (count: number) =>
      `${count === 1 ? "1 Endpunkt wird" : `${count} Endpunkte werden`} aktiviert. Der Rückstand wird zugestellt, das Älteste zuerst. Um ihn zu verwerfen, aktivieren Sie die Endpunkte einzeln.`,
    tenants: "Mandanten",
    urls: "URLs",
  },
});

export function EndpointBulk({ selection }: { readonly selection: Selection<Endpoint> }) {
  const t = useTexts(texts);
  const [doing, setDoing] = useState<"enable" | "disable" | null>(null);
  const endpoints = [...selection.selected.values()];
  const close = (done: readonly Endpoint[] | null) => {
    setDoing(null);
    deselect(selection, done);
  };
  return (
    <>
      <BulkBar selection={selection}>
        <Button icon="pause" onClick={() => setDoing("disable")}>
          {t.disable}
        </Button>
        <Button icon="check" onClick={() => setDoing("enable")}>
          {t.enable}
        </Button>
      </BulkBar>
      {doing !== null && (
        <BulkDialog
          title={t[`${doing}Title`]}
          action={t[`${doing}Now`]}
          isDangerous={doing === "disable"}
          plan={planSwitch(endpoints, doing === "enable")}
          describe={t[`${doing}d`]}
          parts={[
            { title: t.tenants, nameOf: ({ tenant }) => tenant },
            { title: t.urls, nameOf: ({ url }) => url },
          ]}
          act={({ tenant, id }) => api.endpoints[doing]({ tenant, endpoint: id })}
          onClose={close}
        />
      )}
    </>
  );
}
