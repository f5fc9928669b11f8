// Code that verifies the requests of a signature scheme: one template per language.
import type { SchemeFacts } from "../scheme-facts.ts";
import { go } from "./go.ts";
import { java } from "./java.ts";
import { php } from "./php.ts";
import { python } from "./python.ts";
import { ruby } from "./ruby.ts";
import { shell } from "./shell.ts";
import type { Template } from "./snippet.ts";
import { typescript } from "./typescript.ts";

const templates = {
  TypeScript: typescript,
  Python: python,
  Go: go,
  PHP: php,
  Ruby: ruby,
  Java: java,
  Shell: shell,
} as const satisfies Readonly<Record<string, Template>>;

export type SnippetLanguage = keyof typeof templates;
export const SNIPPET_LANGUAGES = Object.keys(templates) as SnippetLanguage[];

export interface Snippet {
  readonly language: SnippetLanguage;
  readonly code: string;
}

export function snippetsFor(facts: SchemeFacts): Snippet[] {
  return SNIPPET_LANGUAGES.map((language) => ({ language, code: templates[language](facts) }));
}
