import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { COLOURS } from "./api/docs/plain-page.ts";
import { mailHtml } from "./mail-html.ts";

const text = [
  "Most attempts to deliver to a webhook endpoint fail, so its deliveries wait. An attempt is made from",
  "time to time.",
  "",
  "Endpoint:     https://hooks.example/in",
  "Description:  <b>Billing</b> & more",
  "Dead letters: 5",
  "",
  "What to do: make the endpoint return a 2xx status.",
  "",
  "  https://hooks.example.com/portal/endpoints/ep_1?a=1&b=2",
  "",
].join("\n");

test("the HTML of a mail has its paragraphs, facts and link", () => {
  const page = mailHtml("Webhook endpoint is failing: hooks.example", text);
  expect(page).toContain(">Webhook endpoint is failing: hooks.example</h1>");
  expect(page).toContain("An attempt is made from time to time.</p>");
  expect([...page.matchAll(/nowrap">([^<]*)<\/td><td [^>]*>([^<]*)</g)].map((fact) => fact.slice(1))).toEqual(
    [
      ["Endpoint", "https://hooks.example/in"],
      ["Description", "&#60;b&#62;Billing&#60;/b&#62; &#38; more"],
      ["Dead letters", "5"],
    ],
  );
  expect(page).toContain(">What to do: make the endpoint return a 2xx status.</p>");
  expect([...page.matchAll(/href="([^"]*)"/g)].map(([, to]) => to)).toEqual([
    "https://hooks.example.com/portal/endpoints/ep_1?a=1&#38;b=2",
  ]);
  expect(page).not.toMatch(/<(?:script|img|link|style|b)\b/);
});

test("a text without facts or a link is paragraphs, and a link in a fact stays text", () => {
  const page = mailHtml("<x>", "one\n\ntwo javascript:alert(1)\n");
  expect(page.match(/<p /g)).toHaveLength(2);
  expect(page).not.toContain("href");
  expect(page).not.toContain("<x>");
});

test("mails and plain pages have the colours of the design tokens", () => {
  const path = "../../dashboard/src/design/tokens.css";
  const tokens = readFileSync(new URL(path, import.meta.url), "utf8");
  for (const [name, [light, dark]] of Object.entries(COLOURS)) {
    const value = light === dark ? light : `light-dark(${light}, ${dark})`;
    expect(tokens).toContain(`--color-${name}: ${value};`);
  }
});
