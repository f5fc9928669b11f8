// Shows untrusted JSON and code as text, with syntax colours. Long texts are truncated; the full text has no colours.
import { useMemo, useState } from "react";
import { defineTexts } from "../../app/texts.ts";
import { bytes } from "../../format/number.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy.tsx";

const t = defineTexts({
  all: ["Show all {size}", "Alle {size} anzeigen"],
});

const FIRST_LINES = 400;
/** A body may be a single line. 15,000 coloured lines of 15 characters took Chromium 15 s, without colours 0.1 s. */
const FIRST_CHARACTERS = 20_000;
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
  copied = text,
  isJson = false,
  wraps = false,
}: {
  readonly text: string;
  readonly label: string;
  /** What the button copies. Default: the text. */
  readonly copied?: string;
  readonly isJson?: boolean;
  /** Wraps long lines between words. Default: they scroll, because ids would be broken at their hyphens. */
  readonly wraps?: boolean;
}) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? text : firstPartOf(text);
  return (
    <div className="relative rounded-md border border-line bg-canvas">
      <div className="absolute top-1 right-1 rounded-md bg-canvas">
        <CopyButton text={copied} />
      </div>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
        className="max-h-[32rem] overflow-auto p-3 pr-24 font-mono"
      >
        <pre className={wraps ? "wrap-normal whitespace-pre-wrap" : ""}>
          {isJson && !showsAll ? coloured(shown) : shown}
        </pre>
      </section>
      {shown.length < text.length && (
        <div className="p-2 text-center">
          <Button onClick={() => setShowsAll(true)}>{t.all({ size: bytes(new Blob([text]).size) })}</Button>
        </div>
      )}
    </div>
  );
}

function firstPartOf(text: string): string {
  return text.split("\n", FIRST_LINES).join("\n").slice(0, FIRST_CHARACTERS);
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
