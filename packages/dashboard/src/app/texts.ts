// Texts in English and German. Each component defines its table; the types require the same keys in both languages.
import { createContext, useContext } from "react";

export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

export type Texts<Table> = Readonly<Record<Language, Table>>;

export function defineTexts<Table>(given: { readonly en: Table; readonly de: NoInfer<Table> }): Texts<Table> {
  return given;
}

export const LanguageContext = createContext<Language>("en");

export function useTexts<Table>(texts: Texts<Table>): Table {
  return texts[useContext(LanguageContext)];
}

export function useLanguage(): Language {
  return useContext(LanguageContext);
}
