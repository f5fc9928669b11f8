// The user's preferences in this browser: language and theme.
import { useSyncExternalStore } from "react";
import { readStored, writeStored } from "./browser-storage.ts";
import { LANGUAGES, type Language } from "./texts.ts";

export type Theme = "light" | "dark" | "system";

export interface Preferences {
  readonly language: Language;
  readonly theme: Theme;
}

const KEY = "posthorn-preferences";
const darkWanted = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
/** Null lets the user choose. */
let fixedTheme: "light" | "dark" | null = null;
let current = read();
show();
darkWanted.addEventListener("change", show);

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, () => current);
}

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  writeStored(KEY, current);
  show();
}

/** Overrides the user's theme, for a portal whose appearance is configured. */
export function fixTheme(theme: "light" | "dark"): void {
  fixedTheme = theme;
  show();
}

export function isThemeFixed(): boolean {
  return fixedTheme !== null;
}

/** Whether the dark theme is active. */
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
  const stored = (readStored(KEY) ?? {}) as Partial<Preferences>;
  return {
    language:
      stored.language !== undefined && stored.language in LANGUAGES ? stored.language : fallback.language,
    theme: stored.theme === "light" || stored.theme === "dark" ? stored.theme : fallback.theme,
  };
}

function show(): void {
  const theme = fixedTheme ?? current.theme;
  const isDark = theme === "dark" || (theme === "system" && darkWanted.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  document.documentElement.lang = current.language;
  for (const listener of listeners) listener();
}
