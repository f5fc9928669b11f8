// Code that verifies HTTP Message Signatures: one template per language.
import type { SchemeFacts } from "../../scheme-facts.ts";
import { SNIPPET_LANGUAGES, type Snippet, type SnippetLanguage } from "../snippets.ts";
import { go } from "./go.ts";
import { java } from "./java.ts";
import type { MessageTemplate } from "./message.ts";
import { php } from "./php.ts";
import { python } from "./python.ts";
import { ruby } from "./ruby.ts";
import { shell } from "./shell.ts";
import { typescript } from "./typescript.ts";

const templates: Readonly<Record<SnippetLanguage, MessageTemplate>> = {
  TypeScript: typescript,
  Python: python,
  Go: go,
  PHP: php,
  Ruby: ruby,
  Java: java,
  Shell: shell,
};

export function messageSnippetsFor(key: SchemeFacts["key"]): Snippet[] {
  return SNIPPET_LANGUAGES.map((language) => ({ language, code: templates[language](key) }));
}
