// What has just happened, said once and in a corner; with a way back where there is one.
import { PosthornApiError } from "@posthorn/client/web";
import { useSyncExternalStore } from "react";
import { findSeenPart } from "../app/frame.ts";
import { defineTexts, useTexts } from "../app/texts.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icons.tsx";

const texts = defineTexts({
  en: { undo: "Undo", dismiss: "Dismiss", unreachable: "The server cannot be reached. Nothing was changed." },
  de: {
    undo: "Rückgängig",
    dismiss: "Schließen",
    unreachable: "Der Server ist nicht erreichbar. Nichts wurde geändert.",
  },
});

interface Toast {
  readonly id: number;
  /** Null: the server could not be reached. */
  readonly text: string | null;
  readonly isBad: boolean;
  readonly undo?: () => void;
}

const SHOWN_MS = 6_000;
const MOST = 4;
let nextId = 1;
let toasts: readonly Toast[] = [];
const listeners = new Set<() => void>();

export function say(text: string, { undo }: { readonly undo?: () => void } = {}): void {
  show({ id: nextId++, text, isBad: false, ...(undo && { undo }) });
}

/** Of something that was asked for and did not happen. */
export function sayError(error: unknown): void {
  show({ id: nextId++, text: error instanceof PosthornApiError ? error.message : null, isBad: true });
}

function show(toast: Toast): void {
  findSeenPart();
  update([...toasts, toast].slice(-MOST));
  setTimeout(() => dismiss(toast.id), SHOWN_MS);
}

function dismiss(id: number): void {
  update(toasts.filter((toast) => toast.id !== id));
}

function update(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const t = useTexts(texts);
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div
      aria-live="polite"
      className="fixed right-4 bottom-[calc(100vh-var(--seen-top)-var(--seen-height)+1rem)] z-50 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2"
    >
      {shown.map(({ id, text, isBad, undo }) => (
        <div
          key={id}
          className={`flex items-center gap-2 rounded-md border border-line bg-surface p-3 shadow-lg ${isBad ? "text-bad" : ""}`}
        >
          <Icon name={isBad ? "warning" : "check"} />
          <p className="min-w-0 flex-1 break-words">{text ?? t.unreachable}</p>
          {undo && (
            <Button
              onClick={() => {
                undo();
                dismiss(id);
              }}
            >
              {t.undo}
            </Button>
          )}
          <Button kind="quiet" icon="close" aria-label={t.dismiss} onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
