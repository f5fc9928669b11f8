// JSON from outside: shown as text, coloured by its kind, never as HTML. Long texts are cut and say so.
import { useMemo, useState } from "react";
import { defineTexts, useTexts } from "../app/texts.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy.tsx";

const texts = defineTexts({
  en: { all: (count: number) => `Show all ${count} lines` },
  de: { all: (count: number) => `Alle ${count} Zeilen zeigen` },
});

const FIRST_LINES = 400;
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g;

export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const text = useMemo(
    () => (typeof value === "string" ? value : JSON.stringify(value, null, 2)) ?? "",
    [value],
  );
  return <CodeView text={text} label={label} isJson={typeof value !== "string" || looksLikeJson(value)} />;
}

export function CodeView({
  text,
  label,
  isJson = false,
}: {
  readonly text: string;
  readonly label: string;
  readonly isJson?: boolean;
}) {
  const t = useTexts(texts);
  const [showsAll, setShowsAll] = useState(false);
  const lines = text.split("\n");
  const shown = showsAll ? text : lines.slice(0, FIRST_LINES).join("\n");
  return (
    <div className="relative rounded-md border border-line bg-canvas">
      <div className="absolute top-1 right-1">
        <CopyButton text={text} />
      </div>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
        className="max-h-[32rem] overflow-auto p-3 pr-24 font-mono text-xs leading-5"
      >
        <pre className="break-words whitespace-pre-wrap">{isJson ? coloured(shown) : shown}</pre>
      </section>
      {lines.length > FIRST_LINES && !showsAll && (
        <div className="p-2 text-center">
          <Button onClick={() => setShowsAll(true)}>{t.all(lines.length)}</Button>
        </div>
      )}
    </div>
  );
}

function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

function coloured(text: string) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [whole, quoted, colon] = match;
    if (match.index > at) parts.push(text.slice(at, match.index));
    const tone = quoted === undefined ? "text-calm" : colon === undefined ? "text-ok" : "text-accent-ink";
    parts.push(
      <span key={match.index} className={tone}>
        {quoted ?? whole}
      </span>,
      colon ?? "",
    );
    at = match.index + whole.length;
  }
  parts.push(text.slice(at));
  return parts;
}
