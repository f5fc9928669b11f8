// Layout of a page: header, panels and facts, and placeholders for loading, empty, filtered, failed and forbidden content.
import { PosthornApiError } from "@posthorn/client/web";
import { Link } from "@tanstack/react-router";
import { createContext, type ReactNode, useContext } from "react";
import { isStatus } from "../../api/client.ts";
import { defineTexts } from "../../app/texts.ts";
import { Breadcrumbs } from "./breadcrumbs.tsx";
import { Button, buttonClass } from "./button.tsx";
import { CopyLine } from "./copy.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { Ago } from "./time.tsx";
import { Title } from "./title.tsx";

const t = defineTexts({
  loading: ["Loading …", "Wird geladen …"],
  filteredOut: ["No results for these filters", "Keine Ergebnisse für diese Filter"],
  clearFilters: ["Clear filters", "Filter zurücksetzen"],
  failed: ["Failed to load", "Laden fehlgeschlagen"],
  unreachable: ["The server cannot be reached.", "Der Server ist nicht erreichbar."],
  again: ["Try again", "Erneut versuchen"],
  notAllowed: ["Access denied", "Zugriff verweigert"],
  notAllowedDetail: [
    "Your key or role does not have the required permission. Ask your administrator.",
    "Ihrem Schlüssel oder Ihrer Rolle fehlt die Berechtigung. Wenden Sie sich an Ihren Administrator.",
  ],
  broken: ["This page failed to render", "Diese Seite kann nicht angezeigt werden"],
  brokenDetail: [
    "This is a bug, or the URL is invalid. Other pages are not affected.",
    "Das ist ein Programmfehler, oder die URL ist ungültig. Andere Seiten sind nicht betroffen.",
  ],
  noPage: ["Page not found", "Seite nicht gefunden"],
  noPageDetail: ["There is no page at this address.", "Unter dieser Adresse gibt es keine Seite."],
  toStart: ["Go to the start page", "Zur Startseite"],
  notFound: ["Not found", "Nicht gefunden"],
  notFoundDetail: [
    "It may have been deleted or have passed its retention period, or the URL is wrong.",
    "Der Eintrag wurde möglicherweise gelöscht oder nach Ablauf der Aufbewahrungsfrist entfernt, oder die URL ist falsch.",
  ],
});

/** Whether a page title is rendered above; otherwise an empty state renders the h1. */
const HasTitle = createContext(false);

export function Page({
  title,
  lead,
  actions,
  children,
}: {
  readonly title: ReactNode;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className="mx-auto flex w-full flex-col gap-4 p-4 md:p-6">
      <header className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <Breadcrumbs />
          <Title>{title}</Title>
          {lead !== undefined && <div className="mt-1 text-muted">{lead}</div>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      <HasTitle value={true}>{children}</HasTitle>
    </div>
  );
}

export function Panel({
  title,
  actions,
  children,
  isFlush = false,
}: {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** No padding, for tables. */
  readonly isFlush?: boolean;
}) {
  return (
    <section className="min-w-0 rounded-lg border border-line bg-surface shadow-md">
      {(title !== undefined || actions !== undefined) && (
        <div className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-3">
          <h2 className="text-md font-semibold">{title}</h2>
          <div className="flex flex-wrap gap-2">{actions}</div>
        </div>
      )}
      <div className={isFlush ? "" : "p-4"}>{children}</div>
    </section>
  );
}

/** A box that explains a problem or a state. */
export function Note({
  tone = "warn",
  children,
}: {
  readonly tone?: "ok" | "warn";
  readonly children: ReactNode;
}) {
  const look = tone === "ok" ? "bg-ok-ground text-ok" : "bg-warn-ground text-warn";
  return (
    <div role="note" className={`flex flex-col gap-1 rounded-lg border border-line p-4 ${look}`}>
      {children}
    </div>
  );
}

export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="grid grid-cols-[fit-content(55%)_1fr] gap-x-4 gap-y-1.5">{children}</dl>;
}

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

/** Renders nothing without a time. */
export function TimeFact({ name, at }: { readonly name: string; readonly at: string | null }) {
  return (
    at !== null && (
      <Fact name={name}>
        <Ago at={at} />
      </Fact>
    )
  );
}

function State({
  icon,
  title,
  detail,
  isProblem = false,
  onRetry,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly detail?: string;
  readonly isProblem?: boolean;
  readonly onRetry?: (() => void) | undefined;
  readonly children?: ReactNode;
}) {
  const hasTitle = useContext(HasTitle);
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-12 text-center">
      <Icon name={icon} className="size-7 text-muted" />
      {hasTitle ? (
        <p className="font-medium">{title}</p>
      ) : (
        <Title className="text-md font-medium">{title}</Title>
      )}
      {detail !== undefined && (
        <p role={isProblem ? "alert" : undefined} className="max-w-prose text-muted">
          {detail}
        </p>
      )}
      {onRetry && <Button onClick={onRetry}>{t.again}</Button>}
      {children}
    </div>
  );
}

export function Loading() {
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
  readonly command?: string | undefined;
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
  return (
    <State icon="search" title={t.filteredOut}>
      <Button onClick={onClear}>{t.clearFilters}</Button>
    </State>
  );
}

export function Failed({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  if (isStatus(error, 401, 403))
    return <State icon="lock" title={t.notAllowed} detail={t.notAllowedDetail} />;
  if (isStatus(error, 404)) return <NotFound />;
  const detail = error instanceof PosthornApiError ? error.message : t.unreachable;
  return <State icon="warning" title={t.failed} detail={detail} isProblem onRetry={onRetry} />;
}

/** In place of data that is being loaded or failed to load. */
export function NotLoaded({
  query: { error, refetch },
}: {
  readonly query: { readonly error: unknown; readonly refetch: () => Promise<unknown> };
}) {
  return error === null ? <Loading /> : <Failed error={error} onRetry={() => void refetch()} />;
}

export function NotFound() {
  return <State icon="search" title={t.notFound} detail={t.notFoundDetail} />;
}

/** An address that is no page. */
export function UnknownAddress() {
  return (
    <State icon="search" title={t.noPage} detail={t.noPageDetail}>
      <Link to="/" className={buttonClass()}>
        {t.toStart}
      </Link>
    </State>
  );
}

/** Replaces a page that threw while rendering. */
export function Broken({ onRetry }: { readonly onRetry: () => void }) {
  return <State icon="warning" title={t.broken} detail={t.brokenDetail} isProblem onRetry={onRetry} />;
}
