// Layout of a page: header, panels and facts.
import { createContext, type ReactNode } from "react";

/** Whether a page title is rendered above; otherwise an empty state renders the h1. */
export const HasTitle = createContext(false);

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
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-4 p-4 md:p-6">
      <header className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h1 className="text-xl font-semibold break-words">{title}</h1>
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
    <section className="min-w-0 rounded-lg border border-line bg-surface">
      {(title !== undefined || actions !== undefined) && (
        <div className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2.5">
          <h2 className="font-semibold">{title}</h2>
          <div className="flex flex-wrap gap-2">{actions}</div>
        </div>
      )}
      <div className={isFlush ? "" : "p-4"}>{children}</div>
    </section>
  );
}

/** A definition list. */
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
