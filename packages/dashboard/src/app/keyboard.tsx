// Keyboard shortcuts: one key, or g and a key. Inactive while the user types and while a dialog is open.
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
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target))
        return;
      const isSecond = event.timeStamp - before.at < SEQUENCE_MS;
      const action = (isSecond && latest.current[`${before.key} ${event.key}`]) || latest.current[event.key];
      before = { key: event.key, at: event.timeStamp };
      if (!action) return;
      event.preventDefault();
      action(event);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("[role=dialog]") !== null || document.querySelector("[role=dialog]") !== null)
    return true;
  // checkboxes take no text, and keep the focus after a row was selected with the mouse
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
