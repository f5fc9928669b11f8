// Shown in the portal without a valid session.
import { useEffect } from "react";
import { getSignedOutReason } from "../../api/session.ts";
import { isFramed, postToParent } from "../../app/frame.ts";
import { defineTexts } from "../../app/texts.ts";
import { Icon } from "../../components/ui/icons.tsx";
import { Title } from "../../components/ui/title.tsx";

const t = defineTexts({
  never: [
    "This link has expired or was already used",
    "Dieser Link ist abgelaufen oder wurde bereits verwendet",
  ],
  ended: ["Your session has ended", "Ihre Sitzung ist abgelaufen"],
  "no-cookie": ["Your browser blocked the session cookie", "Ihr Browser hat das Sitzungs-Cookie blockiert"],
  open: [
    "Go back to the page you came from to get a new link.",
    "Kehren Sie zur vorherigen Seite zurück, um einen neuen Link zu erhalten.",
  ],
  reload: [
    "Reload the surrounding page to get a new link.",
    "Laden Sie die umgebende Seite neu, um einen neuen Link zu erhalten.",
  ],
  cookie: [
    "The portal is embedded in another page, and the browser rejected its cookie. Embedding requires https, or both pages on the same host. Contact the operator of this page.",
    "Das Portal ist in eine andere Seite eingebettet, und der Browser hat sein Cookie abgelehnt. Das Einbetten erfordert https oder denselben Host für beide Seiten. Wenden Sie sich an den Betreiber dieser Seite.",
  ],
});

export function SignedOut() {
  const why = getSignedOutReason();
  useEffect(() => {
    // without a cookie a new link would fail too, and the embedding page would request one after another
    if (why !== "no-cookie") postToParent({ type: "posthorn:session-ended" });
  }, [why]);
  const remedy = isFramed ? t.reload : t.open;
  return (
    <main className="grid min-h-screen place-items-center p-6 text-center framed:min-h-0">
      <div className="flex max-w-sm flex-col items-center gap-3">
        <Icon name="lock" className="size-8 text-muted" />
        <Title>{t[why]}</Title>
        <p className="text-muted">{why === "no-cookie" ? t.cookie : remedy}</p>
      </div>
    </main>
  );
}
