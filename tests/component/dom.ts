// A DOM without a browser. Only what pages need is global, so that the server of a test runs in the same process on
// Node's own fetch, streams and timers.
import { Window } from "happy-dom";
import { afterEach, vi } from "vitest";

// needs a canvas, and the table with the data of a day takes a second to render
vi.mock("../../packages/dashboard/src/components/chart/chart.tsx", () => ({ Chart: () => null }));

export const ORIGIN = "http://dashboard.test";

const window = new Window({ url: `${ORIGIN}/`, width: 1280, height: 800 });
const NAMES = [
  "CustomEvent",
  "DOMException",
  "DocumentFragment",
  "Element",
  "Event",
  "FocusEvent",
  "HTMLButtonElement",
  "HTMLElement",
  "HTMLFormElement",
  "HTMLIFrameElement",
  "HTMLInputElement",
  "HTMLLabelElement",
  "HTMLSelectElement",
  "HTMLTextAreaElement",
  "InputEvent",
  "IntersectionObserver",
  "KeyboardEvent",
  "MouseEvent",
  "MutationObserver",
  "Node",
  "NodeFilter",
  "PointerEvent",
  "ResizeObserver",
  "SVGElement",
  "ShadowRoot",
  "Text",
  "addEventListener",
  "cancelAnimationFrame",
  "document",
  "getComputedStyle",
  "history",
  "localStorage",
  "location",
  "matchMedia",
  "navigator",
  "removeEventListener",
  "requestAnimationFrame",
  "sessionStorage",
] as const;
for (const name of NAMES) {
  const value = (window as unknown as Record<string, unknown>)[name];
  const isFunction = typeof value === "function" && /^[a-z]/.test(name);
  Object.defineProperty(globalThis, name, {
    value: isFunction ? (value as () => void).bind(window) : value,
    configurable: true,
    writable: true,
  });
}
Object.assign(globalThis, { window: globalThis, self: globalThis, parent: globalThis, top: globalThis });
Object.assign(globalThis, { innerHeight: 800, innerWidth: 1280, scrollX: 0, scrollY: 0, scrollTo: () => {} });
// without Web Locks every page reads the live stream itself
Object.defineProperty(window.navigator, "locks", { value: undefined });
Object.assign(window.Element.prototype, { scrollIntoView: () => {}, getAnimations: () => [] });

// after the globals, which these modules read when they are loaded
const { timeoutManager } = await import("@tanstack/react-query");
const { cleanup, configure, fireEvent } = await import("@testing-library/react");
configure({
  // long enough for a server, its database and a receiver that share busy processors with the page
  asyncUtilTimeout: 8_000,
  // without the whole page in the message
  getElementError: (message) => new Error(`${message}\n${document.body.textContent}`),
});
afterEach(() => {
  // toasts outlive the page that showed them
  for (const button of document.querySelectorAll("button[aria-label=Dismiss]")) fireEvent.click(button);
  cleanup();
});

// pages poll every few seconds
const POLL_MS = 500;
timeoutManager.setTimeoutProvider({
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (id) => clearTimeout(id),
  setInterval: (callback, ms) => setInterval(callback, Math.min(ms, POLL_MS)),
  clearInterval: (id) => clearInterval(id),
});
