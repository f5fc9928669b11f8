// Keyboard shortcuts: one key, g and a key, or "mod" and a key (Ctrl or ⌘). Inactive while a dialog is open and, without
// Ctrl or ⌘, while the user types.
import { useEffect, useRef } from "react";

export type KeyActions = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const SEQUENCE_MS = 1_200;

/** Binds actions to keys, for example `{ j: down, "g e": toEvents, "?": help }`. */
export function useKeys(actions: KeyActions): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    let before = { key: "", at: 0 };
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || isDialogOpen()) return;
      if (event.metaKey || event.ctrlKey) return run(latest.current[`mod ${event.key}`], event);
      if (isTyping(event.target)) return;
      const isSecond = event.timeStamp - before.at < SEQUENCE_MS;
      const action = (isSecond && latest.current[`${before.key} ${event.key}`]) || latest.current[event.key];
      before = { key: event.key, at: event.timeStamp };
      run(action, event);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

function run(action: KeyActions[string] | undefined, event: KeyboardEvent): void {
  if (!action) return;
  event.preventDefault();
  action(event);
}

function isDialogOpen(): boolean {
  return document.querySelector("[role=dialog]") !== null;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // checkboxes take no text, and keep the focus after a row was selected with the mouse
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
