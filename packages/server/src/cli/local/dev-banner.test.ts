import { expect, test } from "vitest";
import { banner } from "./dev-banner.ts";

const at = (url: string, dataDir = ".posthorn", isEmbedded = true, websub = false) =>
  banner({
    url,
    link: `${url}/#code=phl_1`,
    key: "phk_1",
    config: { dataDir, enabled: true, websub },
    isEmbedded,
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

test("the hub is named where there is one", () => {
  const url = "http://127.0.0.1:8400";
  expect(at(url, ".posthorn", true, true)).toContain("\n  WebSub hub  http://127.0.0.1:8400/websub\n");
  expect(at(url)).not.toContain("WebSub");
});

test("so is the data directory, where the command finds the key, if it is not the usual one", () => {
  const url = "http://127.0.0.1:8400";
  expect(at(url, "/srv/it's")).toContain("\n  export POSTHORN_DATA_DIR='/srv/it'\\''s'\n");
  expect(at(url, `${process.cwd()}/.posthorn`)).not.toContain("POSTHORN_DATA_DIR");
  expect(at(url, "/srv/posthorn", false)).not.toContain("POSTHORN_DATA_DIR");
});
