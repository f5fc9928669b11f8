// Whoever comes without a link that works, or stayed longer than it let them.
import { useEffect } from "react";
import { whyNobodyIsSignedIn } from "../../api/session.ts";
import { isFramed, tellParent } from "../../app/frame.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Icon } from "../../components/ui/icons.tsx";

const texts = defineTexts({
  en: {
    never: "This link has been used or is too old",
    ended: "Your session has ended",
    "no-cookie": "Your browser keeps no session here",
    open: "Open the page you came from again: it gives you a new link.",
    reload: "Load the page around this again: it gives you a new link.",
    cookie:
      "This is shown inside of another page, and the browser takes no cookie from it there. It does over https, and where both are on the same host. Tell whoever runs this page.",
  },
  de: {
    never: "Dieser Link wurde schon benutzt oder ist zu alt",
    ended: "Ihre Sitzung ist zu Ende",
    "no-cookie": "Ihr Browser behält hier keine Sitzung",
    open: "Öffnen Sie die Seite, von der Sie kamen, noch einmal: Sie gibt Ihnen einen neuen Link.",
    reload: "Laden Sie die Seite neu, in der dies steht: Sie gibt Ihnen einen neuen Link.",
    cookie:
      "Dies steht innerhalb einer anderen Seite, und der Browser nimmt dort kein Cookie an. Über https tut er es, und wenn beide auf demselben Host sind. Sagen Sie es dem Betreiber der Seite.",
  },
});

export function LinkIsOver() {
  const t = useTexts(texts);
  const why = whyNobodyIsSignedIn();
  useEffect(() => {
    // without a cookie a new link ends as this one did, and the page around would make one after the other
    if (why !== "no-cookie") tellParent({ type: "posthorn:session-ended" });
  }, [why]);
  const remedy = isFramed ? t.reload : t.open;
  return (
    <main className="grid min-h-screen place-items-center p-6 text-center framed:min-h-0">
      <div className="flex max-w-sm flex-col items-center gap-3">
        <Icon name="lock" className="size-8 text-muted" />
        <h1 className="text-lg font-semibold">{t[why]}</h1>
        <p className="text-muted">{why === "no-cookie" ? t.cookie : remedy}</p>
      </div>
    </main>
  );
}
