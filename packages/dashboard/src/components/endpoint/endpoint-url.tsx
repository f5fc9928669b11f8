// The URL of an endpoint in lists, with a badge for WebSub subscriptions.
import type { Endpoint } from "@posthorn/client";
import type { ReactNode } from "react";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Badge } from "../ui/badge.tsx";

const texts = defineTexts({
  en: { subscription: "WebSub subscription, managed by its subscriber." },
  de: { subscription: "WebSub-Abonnement, vom Abonnenten verwaltet." },
});

export function EndpointUrl({
  endpoint: { websub },
  children,
}: {
  readonly endpoint: Pick<Endpoint, "websub">;
  /** The URL. */
  readonly children: ReactNode;
}) {
  const t = useTexts(texts);
  if (websub === null) return children;
  return (
    <>
      <Badge tone="plain" title={t.subscription}>
        WebSub
      </Badge>{" "}
      {children}
    </>
  );
}
