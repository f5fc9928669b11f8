// The layout around every page: navigation, palette, keyboard help, language and theme.
import { Link, Outlet, useMatches, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useSession, useSignOut } from "../api/session.ts";
import { DeliveryOffBanner } from "../components/delivery-mode/delivery-mode.tsx";
import { ParentSection } from "../components/ui/breadcrumbs.tsx";
import { Button } from "../components/ui/button.tsx";
import { Dialog } from "../components/ui/dialog.tsx";
import { Icon, type IconName } from "../components/ui/icons.tsx";
import { Mark } from "../components/ui/logo.tsx";
import { Toasts } from "../components/ui/toasts.tsx";
import { useKeys } from "./keyboard.tsx";
import { Palette } from "./palette.tsx";
import { isThemeFixed, setPreferences, useIsDark, usePreferences } from "./preferences.ts";
import { defineTexts, LANGUAGES, type Language } from "./texts.ts";

const t = defineTexts({
  skip: ["Skip to content", "Zum Inhalt springen"],
  menu: ["Menu", "Menü"],
  navigation: ["Main", "Hauptnavigation"],
  search: ["Search …", "Suchen …"],
  theme: ["Dark theme", "Dunkles Design"],
  signOut: ["Sign out", "Abmelden"],
  next: ["Next row", "Nächste Zeile"],
  before: ["Previous row", "Vorherige Zeile"],
  open: ["Open row", "Zeile öffnen"],
  retry: ["Retry delivery", "Zustellung erneut versuchen"],
  choose: ["Select or deselect row", "Zeile aus- oder abwählen"],
  undo: ["Undo last change", "Letzte Änderung rückgängig machen"],
  palette: ["Search pages, IDs, subjects and tenants", "Seiten, IDs, Subjects und Mandanten suchen"],
  help: ["Show this help", "Diese Hilfe anzeigen"],
});

export interface NavigationItem {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly icon: IconName;
  readonly name: string;
  /** The key to press after `g`. */
  readonly key?: string;
}

export interface NavigationGroup {
  readonly title?: string;
  readonly items: readonly NavigationItem[];
}

export function Shell({
  name,
  logo,
  hasMark = false,
  groups,
  useSearchResults,
}: {
  readonly name: string;
  readonly logo?: string | undefined;
  /** Whether Posthorn's own mark is shown. */
  readonly hasMark?: boolean;
  readonly groups: readonly NavigationGroup[];
  /** Returns results besides screens for a text typed into the palette. */
  readonly useSearchResults: (text: string) => readonly NavigationItem[];
}) {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [open, setOpen] = useState<"palette" | "keys" | null>(null);
  const navigate = useNavigate();
  const items = groups.flatMap((group) => group.items);
  const { section, isItsOwnPage } = useMatches({
    select: (matches) => {
      const match = matches.at(-1);
      const path = match?.staticData.section;
      return { section: path, isItsOwnPage: match?.routeId === path };
    },
    structuralSharing: true,
  });
  const parent = isItsOwnPage ? undefined : items.find(({ to }) => to === section);
  useKeys({
    "?": () => setOpen("keys"),
    "/": () => setOpen("palette"),
    "mod k": () => setOpen("palette"),
    ...Object.fromEntries(
      items.flatMap(({ key, to }) => (key ? [[`g ${key}`, () => void navigate({ to })]] : [])),
    ),
  });
  return (
    <div className="min-h-screen framed:min-h-0 md:grid md:grid-cols-[14rem_1fr]">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-surface focus:p-2"
      >
        {t.skip}
      </a>
      <aside className="border-line bg-surface max-md:border-b md:border-r md:not-framed:sticky md:not-framed:top-0 md:not-framed:h-screen md:not-framed:overflow-y-auto md:flex md:flex-col">
        <div className="flex items-center justify-between gap-2 px-5 pt-4 pb-3">
          <Link to="/" className="flex min-w-0 items-center gap-2 text-md font-semibold">
            {hasMark && <Mark />}
            {logo && <img src={logo} alt="" className="h-6 max-w-24 object-contain" />}
            <span className="truncate">{name}</span>
          </Link>
          <Button
            kind="quiet"
            icon="menu"
            className="md:hidden"
            aria-label={t.menu}
            aria-expanded={isMenuOpen}
            onClick={() => setMenuOpen(!isMenuOpen)}
          />
        </div>
        <div className={`${isMenuOpen ? "" : "max-md:hidden"} flex flex-col gap-3 px-3 pb-4 md:grow`}>
          <Button
            icon="search"
            className="justify-start font-normal text-muted"
            onClick={() => setOpen("palette")}
          >
            {t.search}
            <kbd className="ml-auto rounded border border-line px-1 text-muted">/</kbd>
          </Button>
          <nav aria-label={t.navigation} className="flex flex-col gap-3">
            {groups.map(({ title, items: ofGroup }) => (
              <div key={title ?? ""}>
                {title !== undefined && (
                  <p className="px-2 pt-2 pb-1 text-xs font-medium text-muted">{title}</p>
                )}
                <ul>
                  {ofGroup.map(({ to, icon, name: item }) => (
                    <li key={to}>
                      <Link
                        to={to}
                        activeOptions={{ exact: true, includeSearch: false }}
                        aria-current={to === section ? "true" : undefined}
                        onClick={() => setMenuOpen(false)}
                        className={`flex items-center gap-2 rounded-md px-2 py-1.5 font-medium hover:bg-raised hover:text-ink ${
                          to === section ? "bg-raised text-ink" : "text-muted"
                        }`}
                      >
                        <Icon name={icon} />
                        {item}
                      </Link>
                    </li>
                  ))}
                </ul>
              </div>
            ))}
          </nav>
          <Foot onKeys={() => setOpen("keys")} />
        </div>
      </aside>
      <main id="content" tabIndex={-1} className="min-w-0 focus:outline-none">
        <DeliveryOffBanner />
        <ParentSection value={parent ?? null}>
          <Outlet />
        </ParentSection>
      </main>
      <Palette
        isOpen={open === "palette"}
        onClose={() => setOpen(null)}
        items={items}
        useSearchResults={useSearchResults}
      />
      <KeyHelp isOpen={open === "keys"} onClose={() => setOpen(null)} items={items} />
      <Toasts />
    </div>
  );
}

function Foot({ onKeys }: { readonly onKeys: () => void }) {
  const { language } = usePreferences();
  const isDark = useIsDark();
  const signOut = useSignOut();
  const { data: session } = useSession();
  return (
    <div className="flex flex-col gap-2 border-t border-line pt-3 md:mt-auto">
      <div className="flex items-center gap-1">
        {!isThemeFixed() && (
          <Button
            kind="quiet"
            icon={isDark ? "sun" : "moon"}
            aria-label={t.theme}
            aria-pressed={isDark}
            onClick={() => setPreferences({ theme: isDark ? "light" : "dark" })}
          />
        )}
        <Button kind="quiet" icon="keyboard" aria-label={t.keyboardShortcuts} onClick={onKeys} />
        <select
          aria-label={t.language}
          value={language}
          onChange={(event) => setPreferences({ language: event.target.value as Language })}
          className="min-w-0 rounded-md bg-transparent px-1 py-1 text-sm text-muted"
        >
          {Object.entries(LANGUAGES).map(([code, title]) => (
            <option key={code} value={code}>
              {title}
            </option>
          ))}
        </select>
      </div>
      {session?.kind === "operator" && (
        <Button kind="quiet" className="justify-start" onClick={() => void signOut()}>
          {t.signOut}
        </Button>
      )}
    </div>
  );
}

/** The list of keyboard shortcuts. */
function KeyHelp({
  isOpen,
  onClose,
  items,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly items: readonly NavigationItem[];
}) {
  const rows: readonly (readonly [string, string])[] = [
    ["j", t.next],
    ["k", t.before],
    ["o", t.open],
    ["x", t.choose],
    ["r", t.retry],
    ["u", t.undo],
    ["/", t.palette],
    ["Ctrl K", t.palette],
    ...items.flatMap(({ key, name }) => (key ? [[`g ${key}`, name] as const] : [])),
    ["?", t.help],
  ];
  return (
    <Dialog title={t.keyboardShortcuts} isOpen={isOpen} onClose={onClose}>
      <dl className="grid grid-cols-[4rem_1fr] gap-y-2">
        {rows.map(([key, what]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-raised px-1.5 py-0.5">{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
