// The portal in a frame of somebody's application. It tells that page, and no other, how tall it is and when its session
// starts and ends; and it finds out which part of it can be seen, so that dialogs do not open where nobody looks.
import { portalSettings } from "./portal-settings.ts";

type Told =
  | { readonly type: "posthorn:height"; readonly height: number }
  | { readonly type: "posthorn:session-started" }
  | { readonly type: "posthorn:session-ended" };

export const isFramed = window.parent !== window;

/** A list asks for more rows when its end is in sight. In a frame without an end it would ask for all of them. */
const MOST_PX = 2_000;
/** What a dialog needs to be of use; a page with little on it is made taller for it. */
const DIALOG_PX = 640;

let openDialogs = 0;
let lastToldPx = 0;

/** Once, when the page starts. */
export function fitFrame(root: HTMLElement): void {
  if (!isFramed) return;
  document.documentElement.dataset.framed = "";
  new ResizeObserver(() => tellHeight(root)).observe(root);
  addEventListener("resize", findSeenPart);
}

export function tellParent(told: Told): void {
  if (!isFramed) return;
  for (const origin of parentOrigins()) window.parent.postMessage(told, origin);
}

/** Until the returned function is called. */
export function makeRoomForDialog(): () => void {
  const root = document.getElementById("root");
  if (!isFramed || root === null) return () => {};
  openDialogs += 1;
  findSeenPart();
  tellHeight(root);
  return () => {
    openDialogs -= 1;
    tellHeight(root);
  };
}

/**
 * For what stands at a fixed place: a frame as tall as its content is mostly out of sight, and only this observer sees
 * through to the window around it.
 */
export function findSeenPart(): void {
  if (!isFramed) return;
  const probe = document.createElement("div");
  probe.className = "pointer-events-none invisible fixed inset-0";
  document.body.append(probe);
  const observer = new IntersectionObserver((entries) => {
    const seen = entries.at(-1)?.intersectionRect;
    observer.disconnect();
    probe.remove();
    if (seen === undefined || seen.height === 0) return;
    const { style } = document.documentElement;
    style.setProperty("--seen-top", `${seen.top}px`);
    style.setProperty("--seen-height", `${seen.height}px`);
  });
  observer.observe(probe);
}

function tellHeight(root: HTMLElement): void {
  const contentPx = Math.ceil(root.getBoundingClientRect().height);
  const height = Math.min(MOST_PX, Math.max(contentPx, openDialogs > 0 ? DIALOG_PX : 0));
  if (height === lastToldPx) return;
  lastToldPx = height;
  tellParent({ type: "posthorn:height", height });
}

/** Those that were allowed; where the browser says which of them it is, that one. It says so on the console otherwise. */
function parentOrigins(): readonly string[] {
  const parent = location.ancestorOrigins?.[0];
  return portalSettings.origins.filter((origin) => parent === undefined || origin === parent);
}
