// Texts in English and German. Each module defines the texts that only it uses.
import { commonTexts } from "./common-texts.ts";

export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

/**
 * English and German; a text that is not a pair is the same in both. A text with `{name}` is a function of its
 * values; `{name|one|many}` is `one` if the value is 1.
 */
export type Text<Type = string> = Type | readonly [en: Type, de: Type];

/** The entries of a table in one language. */
export type InLanguage<Table> = { readonly [Key in keyof Table]: EntryIn<Table[Key]> };
type EntryIn<Entry> = Entry extends string
  ? InText<Entry>
  : Entry extends readonly [infer English extends string, string]
    ? InText<English>
    : Entry extends readonly [infer English, infer German]
      ? English | German
      : Entry extends (...values: never) => unknown
        ? Entry
        : InLanguage<Entry>;

type InText<Template extends string> = [NamesIn<Template>] extends [never]
  ? string
  : (values: Readonly<Record<NamesIn<Template>, string | number>>) => string;
type NamesIn<Template extends string> = Template extends `${string}{${infer Place}}${infer Rest}`
  ? (Place extends `${infer Name}|${string}` ? Name : Place) | NamesIn<Rest>
  : never;

let language: Language = "en";

/** The language of all texts, numbers and times. Components that must render again when it changes use `useLanguage`. */
export function currentLanguage(): Language {
  return language;
}

export function setLanguage(next: Language): void {
  language = next;
}

/** A module's own texts together with the common ones, in the current language. */
export function defineTexts<const Own extends object>(
  own: Own,
): InLanguage<Omit<typeof commonTexts, keyof Own> & Own> {
  return inLanguage({ ...commonTexts, ...own });
}

/** A table of texts in the current language. */
export function inLanguage<Table extends object>(table: Table): InLanguage<Table> {
  return new Proxy(table, { get: (_, key) => entryIn(Reflect.get(table, key)) }) as InLanguage<Table>;
}

const PLACEHOLDER = /\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}/g;

function entryIn(entry: unknown): unknown {
  const own: unknown = Array.isArray(entry) ? entry[language === "en" ? 0 : 1] : entry;
  if (typeof own === "string" && String(entry).search(PLACEHOLDER) !== -1)
    return (values: Readonly<Record<string, string | number>>) =>
      own.replaceAll(PLACEHOLDER, (_, name: string, one?: string, many?: string) =>
        String(one === undefined ? values[name] : String(values[name]) === "1" ? one : many),
      );
  return typeof own === "object" && own !== null && own === entry ? inLanguage(own) : own;
}
