// The user's preferences in this browser: language and theme.
import { useSyncExternalStore } from "react";
import { readStored, writeStored } from "./browser-storage.ts";
import { LANGUAGES, type Language, setLanguage } from "./texts.ts";

export type Theme = "light" | "dark" | "system";

export interface Preferences {
  readonly language: Language;
  readonly theme: Theme;
}

const KEY = "posthorn-preferences";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
/** Null lets the user choose. */
let fixedTheme: "light" | "dark" | null = null;
let current = read();
apply();
prefersDark.addEventListener("change", apply);

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, () => current);
}

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  writeStored(KEY, current);
  apply();
}

/** Overrides the user's theme, for a portal whose appearance is configured. */
export function fixTheme(theme: "light" | "dark"): void {
  fixedTheme = theme;
  apply();
}

export function isThemeFixed(): boolean {
  return fixedTheme !== null;
}

/** The language; renders the component again when it changes. */
export function useLanguage(): Language {
  return usePreferences().language;
}

export function useIsDark(): boolean {
  return useSyncExternalStore(subscribe, () => document.documentElement.dataset.theme === "dark");
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function read(): Preferences {
  const ownLanguage = navigator.language.startsWith("de") ? "de" : "en";
  const { language = ownLanguage, theme } = (readStored(KEY) ?? {}) as Partial<Preferences>;
  return {
    language: language in LANGUAGES ? language : ownLanguage,
    theme: theme === "light" || theme === "dark" ? theme : "system",
  };
}

function apply(): void {
  const theme = fixedTheme ?? current.theme;
  const isDark = theme === "dark" || (theme === "system" && prefersDark.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  document.documentElement.lang = current.language;
  setLanguage(current.language);
  for (const listener of listeners) listener();
}
