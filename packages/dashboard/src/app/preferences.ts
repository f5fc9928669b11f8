// What a person chose for this browser: language, light or dark. Nothing depends on it.
import { useSyncExternalStore } from "react";
import { keep, readKept } from "./browser-storage.ts";
import { LANGUAGES, type Language } from "./texts.ts";

export type Theme = "light" | "dark" | "system";

export interface Preferences {
  readonly language: Language;
  readonly theme: Theme;
}

const KEY = "posthorn-preferences";
const darkWanted = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
/** Null: the person decides. */
let fixedTheme: "light" | "dark" | null = null;
let current = read();
show();
darkWanted.addEventListener("change", show);

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, () => current);
}

export function prefer(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  keep(KEY, current);
  show();
}

/** For a page that is to look like the application around it. */
export function fixTheme(theme: "light" | "dark"): void {
  fixedTheme = theme;
  show();
}

export function isThemeFixed(): boolean {
  return fixedTheme !== null;
}

/** Whether the page is dark now, by choice or because the system is. */
export function useIsDark(): boolean {
  return useSyncExternalStore(subscribe, () => document.documentElement.dataset.theme === "dark");
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function read(): Preferences {
  const fallback: Preferences = {
    language: navigator.language.startsWith("de") ? "de" : "en",
    theme: "system",
  };
  const kept = (readKept(KEY) ?? {}) as Partial<Preferences>;
  return {
    language: kept.language !== undefined && kept.language in LANGUAGES ? kept.language : fallback.language,
    theme: kept.theme === "light" || kept.theme === "dark" ? kept.theme : fallback.theme,
  };
}

function show(): void {
  const theme = fixedTheme ?? current.theme;
  const isDark = theme === "dark" || (theme === "system" && darkWanted.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  document.documentElement.lang = current.language;
  for (const listener of listeners) listener();
}
