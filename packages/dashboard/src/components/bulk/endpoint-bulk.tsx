// Switches the endpoints that are chosen off, or on again.
import type { Endpoint } from "@posthorn/client";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { planSwitch } from "../../format/bulk-plan.ts";
import type { Selection } from "../list/data-table.tsx";
import { Button } from "../ui/button.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { BulkDialog } from "./bulk-dialog.tsx";
import { unchoose } from "./selection.ts";

const texts = defineTexts({
  en: {
    disable: "Disable …",
    disableTitle: "Disable what is chosen",
    disableNow: "Disable them",
    disabled: (count: number) =>
      `Nothing will be sent to ${count === 1 ? "1 endpoint" : `${count} endpoints`} from now on. What is for them is kept, and waits until they are enabled.`,
    enable: "Enable …",
    enableTitle: "Enable what is chosen",
    enableNow: "Enable them",
    enabled: (count: number) =>
      `${count === 1 ? "1 endpoint is" : `${count} endpoints are`} sent to again, and what waits for them is delivered, the oldest first. To discard it instead, enable them one by one.`,
    tenants: "Tenants",
    urls: "URLs",
  },
  de: {
    disable: "Abschalten …",
    disableTitle: "Auswahl abschalten",
    disableNow: "Abschalten",
    disabled: (count: number) =>
      `An ${count === 1 ? "1 Endpunkt" : `${count} Endpunkte`} wird ab jetzt nichts gesendet. Was für sie ist, wird aufgehoben, bis sie eingeschaltet werden.`,
    enable: "Einschalten …",
    enableTitle: "Auswahl einschalten",
    enableNow: "Einschalten",
    enabled: (count: number) =>
      `An ${count === 1 ? "1 Endpunkt" : `${count} Endpunkte`} wird wieder gesendet, und was wartet, wird zugestellt, das älteste zuerst. Um es zu verwerfen, schalten Sie sie einzeln ein.`,
    tenants: "Mandanten",
    urls: "URLs",
  },
});

export function EndpointBulk({ selection }: { readonly selection: Selection<Endpoint> }) {
  const t = useTexts(texts);
  const [doing, setDoing] = useState<"enable" | "disable" | null>(null);
  const endpoints = [...selection.chosen.values()];
  const close = (done: readonly Endpoint[] | null) => {
    setDoing(null);
    unchoose(selection, done);
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
          says={t[`${doing}d`]}
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
