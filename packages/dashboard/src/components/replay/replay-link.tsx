// A link from a list of deliveries to a new replay with the same filters.
import { Link } from "@tanstack/react-router";
import type { Filters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { buttonClass } from "../ui/button.tsx";

const texts = defineTexts({
  en: { replay: "Replay all matching …" },
  de: { replay: "Replay aller Treffer …" },
});

/** States that can be replayed. */
const REPLAYABLE = ["dead", "failed", "success"];

export function ReplayLink({ filters }: { readonly filters: Filters }) {
  const t = useTexts(texts);
  const { state = "all", tenant, endpoint, type, reason, created_after, created_before } = filters;
  if (state !== "all" && !REPLAYABLE.includes(state)) return null;
  return (
    <Link
      to="/replays"
      search={{ new: state, tenant, endpoint, type, reason, created_after, created_before } as never}
      className={buttonClass()}
    >
      {t.replay}
    </Link>
  );
}
