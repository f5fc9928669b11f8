// A plain HTML page with a title and a text, for errors.
import { createHash } from "node:crypto";
import { escapeHtml } from "../api/docs/html.ts";

const STYLE =
  "body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }";
const hash = createHash("sha256").update(STYLE).digest("base64");

/** Allows only the page's own style. */
export const PLAIN_POLICY = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function plainPage(title: string, text: string): string {
  const shown = escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)} · Posthorn</title>
<style>${STYLE}</style>
<h1>${escapeHtml(title)}</h1>
<p>${shown}</p>
</html>
`;
}
