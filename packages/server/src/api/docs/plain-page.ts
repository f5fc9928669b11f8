// A page without scripts and files, for when the dashboard is not built or must not be shown. Its colours are the design
// tokens; a test compares them.
import type { Reply } from "../reply.ts";
import { Html, html, policyWithStyle } from "./html.ts";
import { MARK } from "./mark.ts";

/** Tokens of packages/dashboard/src/design/tokens.css, for pages and mails. */
export const COLOURS = {
  canvas: ["#fafafa", "#0c0c0e"],
  surface: ["#ffffff", "#141417"],
  raised: ["#f4f4f5", "#1f1f23"],
  line: ["#e4e4e7", "#27272b"],
  ink: ["#18181b", "#f4f4f5"],
  muted: ["#62626b", "#9d9da6"],
  accent: ["#18181b", "#f4f4f5"],
  "on-accent": ["#ffffff", "#18181b"],
  brand: ["#f2b705", "#f2b705"],
  "on-brand": ["#1c1917", "#1c1917"],
} as const;

const tokens = Object.entries(COLOURS)
  .map(([name, [light, dark]]) => `--color-${name}: light-dark(${light}, ${dark})`)
  .join("; ");

const STYLE = `:root { color-scheme: light dark; ${tokens} }
body { font: 0.9375rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; color: var(--color-ink); background: var(--color-canvas) }
h1 { display: flex; align-items: center; gap: 0.75rem; font-size: 1.375rem; font-weight: 600 }
h1 svg { width: 2rem; flex: none }
a { color: inherit }
code { font: 0.8125rem ui-monospace, monospace; background: var(--color-raised); padding: 0.125rem 0.25rem; border-radius: 0.25rem }
.mark-ground { fill: var(--color-brand) } .mark-horn { fill: none; stroke: var(--color-on-brand) } .mark-bell { fill: var(--color-on-brand) }`;

export function plainPage(status: number, title: string, content: Html): Reply {
  const page = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title === "Posthorn" ? title : `${title} – Posthorn`}</title>
<style>${new Html(STYLE)}</style>
<h1>${MARK}${title}</h1>
${content}
</html>
`;
  return {
    status,
    contentType: "text/html; charset=utf-8",
    body: page.text,
    headers: ["Content-Security-Policy", policyWithStyle(STYLE), "Referrer-Policy", "no-referrer"],
  };
}
