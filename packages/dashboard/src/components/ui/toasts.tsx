// Toast messages, optionally with undo (button or key u). A toast stays while it is hovered or focused.
import { PosthornApiError } from "@posthorn/client/web";
import { useEffect, useState, useSyncExternalStore } from "react";
import { measureVisiblePart } from "../../app/frame.ts";
import { useKeys } from "../../app/keyboard.tsx";
import { defineTexts } from "../../app/texts.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icons.tsx";

const t = defineTexts({
  undo: ["Undo", "Rückgängig"],
  dismiss: ["Dismiss", "Schließen"],
  unreachable: [
    "The server cannot be reached. Please try again.",
    "Der Server ist nicht erreichbar. Bitte versuchen Sie es erneut.",
  ],
});

interface Toast {
  readonly id: number;
  /** Null if the server could not be reached. */
  readonly text: string | null;
  readonly isBad: boolean;
  readonly undo?: () => void;
}

const SHOWN_MS = 6_000;
const UNDO_MS = 10_000;
const MAX_TOASTS = 4;
let nextId = 1;
let toasts: readonly Toast[] = [];
const listeners = new Set<() => void>();

export function showToast(text: string, { undo }: { readonly undo?: () => void } = {}): void {
  show({ id: nextId++, text, isBad: false, ...(undo && { undo }) });
}

export function showFailure(text: string): void {
  show({ id: nextId++, text, isBad: true });
}

export function showError(error: unknown): void {
  show({ id: nextId++, text: error instanceof PosthornApiError ? error.message : null, isBad: true });
}

function show(toast: Toast): void {
  measureVisiblePart();
  update([...toasts, toast].slice(-MAX_TOASTS));
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

function revert({ id, undo }: Toast): void {
  undo?.();
  dismiss(id);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  useKeys({
    u: () => {
      const newest = shown.findLast(({ undo }) => undo !== undefined);
      if (newest) revert(newest);
    },
  });
  return (
    <div
      aria-live="polite"
      className="fixed right-4 bottom-[calc(100vh-var(--visible-top)-var(--visible-height)+1rem)] z-50 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2"
    >
      {shown.map((toast) => (
        <ToastView key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function ToastView({ toast }: { readonly toast: Toast }) {
  const { id, text, isBad, undo } = toast;
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => dismiss(id), undo ? UNDO_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, undo, isHeld]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only prolongs the toast; the controls are inside
    <div
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      className={`flex items-center gap-2 rounded-md border border-line bg-surface p-3 shadow-lg ${isBad ? "text-bad" : ""}`}
    >
      <Icon name={isBad ? "warning" : "check"} />
      <p className="min-w-0 flex-1 break-words">{text ?? t.unreachable}</p>
      {undo && (
        <Button aria-keyshortcuts="u" onClick={() => revert(toast)}>
          {t.undo}
          <kbd className="rounded border border-line px-1 font-mono text-xs text-muted">u</kbd>
        </Button>
      )}
      <Button kind="quiet" icon="close" aria-label={t.dismiss} onClick={() => dismiss(id)} />
    </div>
  );
}
