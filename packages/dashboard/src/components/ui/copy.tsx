// Copies text to the clipboard.
import { useState } from "react";
import { defineTexts } from "../../app/texts.ts";
import { Button } from "./button.tsx";

const t = defineTexts({
  copy: ["Copy", "Kopieren"],
  copied: ["Copied", "Kopiert"],
});

const SHOWN_MS = 1_500;

export function CopyButton({
  text,
  label,
}: {
  readonly text: string | (() => Promise<string>);
  readonly label?: string;
}) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    const isDone = await copyText(typeof text === "string" ? text : await text());
    setCopied(isDone);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <Button kind="quiet" icon={isCopied ? "check" : "copy"} onClick={() => void copy()}>
      <span aria-live="polite">{isCopied ? t.copied : (label ?? t.copy)}</span>
    </Button>
  );
}

/** Falls back to execCommand where the clipboard API is not available: plain http and some frames. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "fixed top-0 opacity-0";
    // inside an open dialog, which traps the focus
    (document.activeElement?.parentElement ?? document.body).append(field);
    const before = document.activeElement;
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    if (before instanceof HTMLElement) before.focus();
    return isDone;
  }
}

export function CopyLine({ text }: { readonly text: string }) {
  return (
    <div className="flex max-w-full items-center gap-2 rounded-md border border-line bg-raised py-1 pr-1 pl-3">
      <code
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="grow overflow-x-auto font-mono text-xs whitespace-pre"
      >
        {text}
      </code>
      <CopyButton text={text} />
    </div>
  );
}
