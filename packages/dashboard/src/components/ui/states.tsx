// What stands in place of a list that has no rows to show: nothing yet, filtered out, failed to load, not allowed. Four
// different things, and each says what to do.
import { PosthornApiError } from "@posthorn/client/web";
import { type ReactNode, useContext } from "react";
import { isStatus } from "../../api/client.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Button } from "./button.tsx";
import { CopyLine } from "./copy.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { HasTitle } from "./panel.tsx";

const texts = defineTexts({
  en: {
    loading: "Loading …",
    filteredOut: "Nothing matches these filters",
    clearFilters: "Clear filters",
    failed: "This could not be loaded",
    unreachable: "The server cannot be reached. It is asked again when you press the button.",
    again: "Try again",
    notAllowed: "You may not see this",
    notAllowedDetail: "Your key or role lacks the permission. Ask whoever gave it to you.",
    broken: "This screen cannot be shown",
    brokenDetail: "That is a mistake of this page, or its address is wrong. The other screens work.",
    notFound: "There is no such thing here",
    notFoundDetail: "It may have been deleted, be older than what is kept, or the address is wrong.",
  },
  de: {
    loading: "Lädt …",
    filteredOut: "Nichts passt zu diesen Filtern",
    clearFilters: "Filter aufheben",
    failed: "Das konnte nicht geladen werden",
    unreachable: "Der Server ist nicht erreichbar. Ein Klick fragt ihn noch einmal.",
    again: "Noch einmal",
    notAllowed: "Das dürfen Sie nicht sehen",
    notAllowedDetail:
      "Ihrem Schlüssel oder Ihrer Rolle fehlt die Berechtigung. Fragen Sie, wer ihn vergeben hat.",
    broken: "Diese Ansicht lässt sich nicht zeigen",
    brokenDetail:
      "Das ist ein Fehler dieser Seite, oder die Adresse stimmt nicht. Die anderen Ansichten gehen.",
    notFound: "Das gibt es hier nicht",
    notFoundDetail:
      "Vielleicht wurde es gelöscht, ist älter als die Aufbewahrung, oder die Adresse stimmt nicht.",
  },
});

function State({
  icon,
  title,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
}) {
  const Title = useContext(HasTitle) ? "p" : "h1";
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-12 text-center">
      <Icon name={icon} className="size-7 text-muted" />
      <Title className="font-medium">{title}</Title>
      {children}
    </div>
  );
}

export function Loading() {
  const t = useTexts(texts);
  return (
    <p role="status" className="px-4 py-12 text-center text-muted">
      {t.loading}
    </p>
  );
}

/** With the command that would make the first one. */
export function NothingYet({
  title,
  command,
  children,
}: {
  readonly title: string;
  readonly command?: string;
  readonly children?: ReactNode;
}) {
  return (
    <State icon="info" title={title}>
      {children !== undefined && <div className="max-w-prose text-muted">{children}</div>}
      {command !== undefined && <CopyLine text={command} />}
    </State>
  );
}

export function FilteredOut({ onClear }: { readonly onClear: () => void }) {
  const t = useTexts(texts);
  return (
    <State icon="search" title={t.filteredOut}>
      <Button onClick={onClear}>{t.clearFilters}</Button>
    </State>
  );
}

export function Failed({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const t = useTexts(texts);
  if (isStatus(error, 401, 403)) {
    return (
      <State icon="lock" title={t.notAllowed}>
        <p className="max-w-prose text-muted">{t.notAllowedDetail}</p>
      </State>
    );
  }
  if (isStatus(error, 404)) return <NotFound />;
  return (
    <State icon="warning" title={t.failed}>
      <p role="alert" className="max-w-prose text-muted">
        {error instanceof PosthornApiError ? error.message : t.unreachable}
      </p>
      {onRetry && <Button onClick={onRetry}>{t.again}</Button>}
    </State>
  );
}

export function NotFound() {
  const t = useTexts(texts);
  return (
    <State icon="search" title={t.notFound}>
      <p className="max-w-prose text-muted">{t.notFoundDetail}</p>
    </State>
  );
}

/** Of a screen that threw while it was drawn. */
export function Broken({ onRetry }: { readonly onRetry: () => void }) {
  const t = useTexts(texts);
  return (
    <State icon="warning" title={t.broken}>
      <p role="alert" className="max-w-prose text-muted">
        {t.brokenDetail}
      </p>
      <Button onClick={onRetry}>{t.again}</Button>
    </State>
  );
}
