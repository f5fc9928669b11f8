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

test("prints the variables that the command needs to find the server", () => {
  expect(at("http://127.0.0.1:8401")).toContain("\n  export POSTHORN_URL=http://127.0.0.1:8401\n");
  expect(at("http://127.0.0.1:8400")).not.toContain("POSTHORN_URL");
});

test("the dashboard is listed first, with a sign-in link", () => {
  const [first] = at("http://127.0.0.1:8400").match(/^ {2}\w.*$/m) ?? [];
  expect(first).toBe("  Dashboard   http://127.0.0.1:8400/#code=phl_1");
});

test("the hub is listed if it is enabled", () => {
  const url = "http://127.0.0.1:8400";
  expect(at(url, ".posthorn", true, true)).toContain("\n  WebSub hub  http://127.0.0.1:8400/websub\n");
  expect(at(url)).not.toContain("WebSub");
});

test("the data directory is listed if it is not the default", () => {
  const url = "http://127.0.0.1:8400";
  expect(at(url, "/srv/it's")).toContain("\n  export POSTHORN_DATA_DIR='/srv/it'\\''s'\n");
  expect(at(url, `${process.cwd()}/.posthorn`)).not.toContain("POSTHORN_DATA_DIR");
  expect(at(url, "/srv/posthorn", false)).not.toContain("POSTHORN_DATA_DIR");
});
