// Where an endpoint is, in lists: a WebSub subscription is told apart from what the tenant set up.
import type { Endpoint } from "@posthorn/client";
import type { ReactNode } from "react";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Badge } from "../ui/badge.tsx";

const texts = defineTexts({
  en: { subscription: "Somebody subscribed by WebSub; only they can change it." },
  de: { subscription: "Jemand hat über WebSub abonniert; nur er kann das ändern." },
});

export function EndpointPlace({
  endpoint: { websub },
  children,
}: {
  readonly endpoint: Pick<Endpoint, "websub">;
  /** Its URL. */
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
