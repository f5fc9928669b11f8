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

export function WaitNote({
  waits,
  headClass = "text-md font-semibold",
}: {
  readonly waits: WaitsFor;
  readonly headClass?: string;
}) {
  const { what, remedy } = explainWait(waits, useNow());
  return (
    <>
      <p className={headClass} {...(waits.until !== null && { title: exactUtc(new Date(waits.until)) })}>
        {what}
      </p>
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
