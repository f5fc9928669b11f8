// What a delivery waits for and what ends the wait.
import type { WaitsFor } from "@posthorn/client";
import { defineTexts } from "../../app/texts.ts";
import { exactUtc } from "../../format/time.ts";
import { explainWait } from "../../format/wait-texts.ts";
import { IdLink } from "../ui/links.tsx";
import { useNow } from "../ui/time.tsx";

const t = defineTexts({
  earlier: ["Show the earlier delivery", "Die frühere Zustellung anzeigen"],
});

export function WaitNote({ waits }: { readonly waits: WaitsFor }) {
  return (
    <>
      <p className="text-md font-semibold">
        <WaitHead waits={waits} />
      </p>
      <WaitRemedy waits={waits} />
    </>
  );
}

/** What it waits for, and until when. */
export function WaitHead({ waits }: { readonly waits: WaitsFor }) {
  const { what } = explainWait(waits, useNow());
  return <span {...(waits.until !== null && { title: exactUtc(new Date(waits.until)) })}>{what}</span>;
}

export function WaitRemedy({ waits }: { readonly waits: WaitsFor }) {
  const { remedy } = explainWait(waits, useNow());
  return (
    <>
      {remedy !== "" && <p className="text-sm">{remedy}</p>}
      {waits.blocked_by !== null && (
        <p className="text-sm">
          <IdLink to="/deliveries/$id" id={waits.blocked_by}>
            {t.earlier}
          </IdLink>
        </p>
      )}
    </>
  );
}
