// The HTML part of a mail, made from its text: paragraphs, a table of facts and a button. Mail clients know neither style
// sheets nor typefaces, so colours are inline and the font is the system's.
import { Html, html } from "./api/docs/html.ts";
import { COLOURS } from "./api/docs/plain-page.ts";

const [canvas] = COLOURS.canvas;
const [surface] = COLOURS.surface;
const [line] = COLOURS.line;
const [ink] = COLOURS.ink;
const [muted] = COLOURS.muted;
const [accent] = COLOURS.accent;
const [onAccent] = COLOURS["on-accent"];
const [brand] = COLOURS.brand;

const FONT = "font-family:system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif";
/** The name of a fact is padded to this column: `Endpoint:     https://…`. */
const COLUMN = 14;
const NAME = /^[A-Z][\w ]*: *$/;
const LINK = /^ {2}(https?:\/\/\S+)$/;

export function mailHtml(subject: string, text: string): string {
  const blocks = text.split(/\n{2,}/).filter((block) => block.trim() !== "");
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light"><title>${subject}</title></head>
<body style="margin:0;padding:24px 12px;background:${canvas};color:${ink};${styled("font-size:15px;line-height:24px")}">
<div style="max-width:600px;margin:0 auto;padding:24px;background:${surface};border:1px solid ${line};border-top:4px solid ${brand};border-radius:8px">
<h1 style="margin:0 0 16px;font-size:22px;line-height:28px;font-weight:600">${subject}</h1>
${blocks.map(blockOf)}</div>
</body>
</html>
`;
  return page.text;
}

function blockOf(block: string): Html {
  const lines = block.split("\n").filter((part) => part.trim() !== "");
  const [, url] = LINK.exec(lines[0] ?? "") ?? [];
  if (lines.length === 1 && url !== undefined)
    return html`<p style="margin:16px 0 0"><a href="${url}" style="display:inline-block;padding:8px 16px;background:${accent};color:${onAccent};border-radius:6px;text-decoration:none;font-weight:500">Open</a></p>
<p style="margin:8px 0 0;font-size:12px;line-height:16px;color:${muted};word-break:break-all">${url}</p>
`;
  const facts = lines.map(factOf);
  if (facts.some((fact) => fact === null))
    return html`<p style="margin:0 0 16px">${lines.map((part) => part.trim()).join(" ")}</p>
`;
  return html`<table role="presentation" style="margin:0 0 16px;border-collapse:collapse;font-size:13px;line-height:20px">${facts.map(
    (fact) =>
      html`<tr><td style="padding:4px 16px 4px 0;color:${muted};vertical-align:top;white-space:nowrap">${fact?.name}</td><td style="padding:4px 0;word-break:break-word">${fact?.value}</td></tr>`,
  )}</table>
`;
}

function factOf(line: string): { readonly name: string; readonly value: string } | null {
  const name = line.slice(0, COLUMN);
  const value = line.slice(COLUMN);
  return NAME.test(name) && value !== "" ? { name: name.trim().slice(0, -1), value } : null;
}

function styled(more: string): Html {
  return new Html(`${FONT};${more}`);
}
