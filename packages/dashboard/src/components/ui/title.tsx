// The heading of a page, which is also the title of the browser's tab: "Deliveries – Posthorn".
import { type ReactNode, useEffect, useRef } from "react";
import { portalSettings } from "../../app/portal-settings.ts";

const PRODUCT =
  document.documentElement.dataset.page === "portal" ? (portalSettings.name ?? "Webhooks") : "Posthorn";

export function Title({
  className = "text-xl font-semibold break-words",
  children,
}: {
  readonly className?: string;
  readonly children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  // after every render, because the heading may show data that was loaded later
  useEffect(() => {
    const text = heading.current?.textContent ?? "";
    document.title = text === "" || text === PRODUCT ? PRODUCT : `${text} – ${PRODUCT}`;
  });
  return (
    <h1 ref={heading} className={className}>
      {children}
    </h1>
  );
}
