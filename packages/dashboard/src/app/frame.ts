// The portal in an iframe. Posts its height and session state to the embedding page (allowed origins only) and measures
// which part of the frame is visible, so that dialogs open there.
import { portalSettings } from "./portal-settings.ts";

type FrameMessage =
  | { readonly type: "posthorn:height"; readonly height: number }
  | { readonly type: "posthorn:session-started" }
  | { readonly type: "posthorn:session-ended" };

export const isFramed = window.parent !== window;

/** Lists load more rows when their end is visible; in a frame of unlimited height they would load all of them. */
const MAX_PX = 2_000;
/** The minimum height while a dialog is open. */
const DIALOG_PX = 640;

let openDialogs = 0;
let lastHeightPx = 0;

/** Starts reporting the height of `root`. Call once, when the page starts. */
export function fitFrame(root: HTMLElement): void {
  if (!isFramed) return;
  document.documentElement.dataset.framed = "";
  new ResizeObserver(() => postHeight(root)).observe(root);
  addEventListener("resize", measureVisiblePart);
}

export function postToParent(message: FrameMessage): void {
  if (!isFramed) return;
  for (const origin of parentOrigins()) window.parent.postMessage(message, origin);
}

/** Makes the frame tall enough for a dialog, until the returned function is called. */
export function reserveDialogHeight(): () => void {
  const root = document.getElementById("root");
  if (!isFramed || root === null) return () => {};
  openDialogs += 1;
  measureVisiblePart();
  postHeight(root);
  return () => {
    openDialogs -= 1;
    postHeight(root);
  };
}

/**
 * Sets --visible-top and --visible-height for fixed elements. Only an IntersectionObserver knows which part of a frame
 * the outer window shows.
 */
export function measureVisiblePart(): void {
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
    style.setProperty("--visible-top", `${seen.top}px`);
    style.setProperty("--visible-height", `${seen.height}px`);
  });
  observer.observe(probe);
}

function postHeight(root: HTMLElement): void {
  const contentPx = Math.ceil(root.getBoundingClientRect().height);
  const height = Math.min(MAX_PX, Math.max(contentPx, openDialogs > 0 ? DIALOG_PX : 0));
  if (height === lastHeightPx) return;
  lastHeightPx = height;
  postToParent({ type: "posthorn:height", height });
}

/** The allowed origins, reduced to the actual parent where the browser exposes it; posting to others logs an error. */
function parentOrigins(): readonly string[] {
  const parent = location.ancestorOrigins?.[0];
  return portalSettings.origins.filter((origin) => parent === undefined || origin === parent);
}
