// Placeholders for loading, empty, filtered, failed and forbidden content.
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
    filteredOut: "No results for these filters",
    clearFilters: "Clear filters",
    failed: "Failed to load",
    unreachable: "The server cannot be reached.",
    again: "Try again",
    notAllowed: "Access denied",
    notAllowedDetail: "Your key or role does not have the required permission. Ask your administrator.",
    broken: "This page failed to render",
    brokenDetail: "This is a bug, or the URL is invalid. Other pages are not affected.",
    notFound: "Not found",
    notFoundDetail: "It may have been deleted or have passed its retention period, or the URL is wrong.",
  },
  de: {
    loading: "Lädt …",
    filteredOut: "Keine Ergebnisse für diese Filter",
    clearFilters: "Filter zurücksetzen",
    failed: "Laden fehlgeschlagen",
    unreachable: "Der Server ist nicht erreichbar.",
    again: "Erneut versuchen",
    notAllowed: "Zugriff verweigert",
    notAllowedDetail:
      "Ihrem Schlüssel oder Ihrer Rolle fehlt die Berechtigung. Wenden Sie sich an Ihren Administrator.",
    broken: "Diese Seite kann nicht angezeigt werden",
    brokenDetail:
      "Das ist ein Programmfehler, oder die URL ist ungültig. Andere Seiten sind nicht betroffen.",
    notFound: "Nicht gefunden",
    notFoundDetail:
      "Möglicherweise gelöscht, nach Ablauf der Aufbewahrungsfrist entfernt, oder die URL ist falsch.",
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

/** An empty list, with the command that creates the first item. */
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

/** Replaces a page that threw while rendering. */
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
