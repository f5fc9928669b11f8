// The state of a delivery.
import { useTexts } from "../../app/texts.ts";
import { STATES, type State, stateTexts } from "../../format/delivery-texts.ts";
import { Badge } from "../ui/badge.tsx";

export function StateBadge({ state }: { readonly state: State }) {
  const t = useTexts(stateTexts);
  return <Badge {...STATES[state]}>{t[state]}</Badge>;
}
