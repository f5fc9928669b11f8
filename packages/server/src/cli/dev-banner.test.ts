import { expect, test } from "vitest";
import { banner } from "./dev-banner.ts";

const at = (url: string) =>
  banner({
    url,
    link: `${url}/#code=phl_1`,
    key: "phk_1",
    config: { dataDir: ".posthorn", enabled: true },
    isEmbedded: true,
    delivered: null,
  });

test("where the command would not find the server by itself, the line that tells it is there to paste", () => {
  expect(at("http://127.0.0.1:8401")).toContain("\n  export POSTHORN_URL=http://127.0.0.1:8401\n");
  expect(at("http://127.0.0.1:8400")).not.toContain("POSTHORN_URL");
});

test("the dashboard is the first thing it names, with the link that lets in", () => {
  const [first] = at("http://127.0.0.1:8400").match(/^ {2}\w.*$/m) ?? [];
  expect(first).toBe("  Dashboard   http://127.0.0.1:8400/#code=phl_1");
});
