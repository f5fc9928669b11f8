import { expect, test } from "vitest";
import { checkSiteOptions } from "./check-site-options.ts";

test("valid options are normalised", () => {
  const logoUrl = "data:image/svg+xml;base64,PHN2Zy8+";
  const options = checkSiteOptions({
    publicUrl: "https://hooks.example/in/",
    allowedHosts: ["Inside.example", "[fd00::1]"],
    portal: { origins: ["https://app.example/", "http://localhost:3000"], logoUrl, accent: "#0A7D55" },
  });
  expect(options).toMatchObject({
    publicUrl: "https://hooks.example/in",
    allowedHosts: ["inside.example", "[fd00::1]"],
    portal: { origins: ["https://app.example", "http://localhost:3000"], logoUrl, accent: "#0a7d55" },
  });
  const atLimits = { name: "x".repeat(60), logoUrl: `/${"x".repeat(32_767)}` };
  expect(checkSiteOptions({ portal: atLimits }).portal).toMatchObject(atLimits);
  expect(checkSiteOptions({})).toMatchObject({
    publicUrl: undefined,
    allowedHosts: [],
    portal: { origins: [] },
  });
});

test.each<[option: string, given: Parameters<typeof checkSiteOptions>[0]]>([
  ["publicUrl", { publicUrl: "hooks.example" }],
  ["allowedHosts", { allowedHosts: ["hooks.example:8400"] }],
  ["allowedHosts", { allowedHosts: ["*"] }],
  ["allowedHosts", { allowedHosts: ["https://hooks.example"] }],
  ["portal.origins", { portal: { origins: ["*"] } }],
  ["portal.origins", { portal: { origins: ["app.example"] } }],
  ["portal.origins", { portal: { origins: ["https://app.example/path"] } }],
  ["portal.origins", { portal: { origins: ["https://app.example; script-src *"] } }],
  ["portal.origins", { portal: { origins: ["https://anna@app.example"] } }],
  ["portal.origins", { portal: { origins: ["data:text/html,x"] } }],
  ["portal.name", { portal: { name: "x".repeat(61) } }],
  ["portal.name", { portal: { name: "a\nb" } }],
  ["portal.logoUrl", { portal: { logoUrl: "https://cdn.example/logo.svg" } }],
  ["portal.logoUrl", { portal: { logoUrl: "//cdn.example/logo.svg" } }],
  ["portal.logoUrl", { portal: { logoUrl: "/\\cdn.example/logo.svg" } }],
  ["portal.logoUrl", { portal: { logoUrl: "data:text/html,<script>" } }],
  ["portal.logoUrl", { portal: { logoUrl: "javascript:alert(1)" } }],
  ["portal.logoUrl", { portal: { logoUrl: `/${"x".repeat(32_768)}` } }],
  ["portal.accent", { portal: { accent: "red" } }],
  ["portal.accent", { portal: { accent: "#fff" } }],
  ["portal.accent", { portal: { accent: "#fff;background:url(//evil.example)" } }],
  ["portal.accent", { portal: { accent: "url(javascript:alert(1))" } }],
  ["portal.logoUrl", { portal: { logoUrl: `/logo.svg" onerror="alert(1)` } }],
  ["portal.logoUrl", { portal: { logoUrl: "data:image/svg+xml,<svg onload=alert(1)>" } }],
  ["portal.logoUrl", { portal: { logoUrl: "JaVaScRiPt:alert(1)" } }],
  ["portal.origins", { portal: { origins: ["javascript:alert(1)"] } }],
  ["portal.origins", { portal: { origins: ["https://*.example"] } }],
  ["portal.origins", { portal: { origins: ["https://app.example;script-src"] } }],
  ["portal.origins", { portal: { origins: ["https://app.example 'unsafe-inline'"] } }],
  ["portal.appearance", { portal: { appearance: "sepia" as never } }],
])("%s is refused when it is %j", (option, given) => {
  expect(() => checkSiteOptions(given)).toThrow(new RegExp(`^${option.replace(".", "\\.")} (must|has)`));
});
