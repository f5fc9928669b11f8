// Warnings about the URL of an endpoint that was saved.
import type { PosthornContract, ResponseOf } from "@posthorn/client";
import { defineTexts } from "../../app/texts.ts";
import { Icon } from "../ui/icons.tsx";

const t = defineTexts({
  host_not_resolved: [
    "The host name of this URL cannot be resolved. Deliveries fail until it can be. Check its spelling and its DNS records.",
    "Der Hostname dieser URL lässt sich nicht auflösen. Bis dahin schlagen Zustellungen fehl. Prüfen Sie die Schreibweise und die DNS-Einträge.",
  ],
});

export type UrlWarnings = ResponseOf<PosthornContract["endpoints"]["create"]>["warnings"];

export function warningText({ code }: UrlWarnings[number]): string {
  return t[code];
}

export function UrlWarningList({ warnings }: { readonly warnings: UrlWarnings }) {
  return warnings.map((warning) => (
    <p key={warning.code} role="status" className="flex gap-2 text-bad">
      <Icon name="warning" />
      {warningText(warning)}
    </p>
  ));
}
