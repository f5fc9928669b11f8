import { expect, test } from "vitest";
import { banner } from "./dev-banner.ts";

const at = (url: string, dataDir = ".posthorn", isEmbedded = true, websub = false) =>
  banner({
    url,
    link: `${url}/#code=phl_1`,
    key: "phk_1",
    config: { dataDir, enabled: "on", websub },
    isEmbedded,
    delivered: null,
  });

test("lists the dashboard first, and the hub, URL and data directory if they are not the defaults", () => {
  const url = "http://127.0.0.1:8400";
  const [first] = at(url).match(/^ {2}\w.*$/m) ?? [];
  expect(first).toBe("  Dashboard   http://127.0.0.1:8400/#code=phl_1");
  expect(at(url, `${process.cwd()}/.posthorn`)).not.toMatch(/WebSub|POSTHORN_URL|POSTHORN_DATA_DIR/);
  expect(at(url, "/srv/posthorn", false)).not.toContain("POSTHORN_DATA_DIR");
  const other = at("http://127.0.0.1:8401", "/srv/it's", true, true);
  expect(other).toContain("\n  export POSTHORN_URL=http://127.0.0.1:8401\n");
  expect(other).toContain("\n  export POSTHORN_DATA_DIR='/srv/it'\\''s'\n");
  expect(other).toContain("\n  WebSub hub  http://127.0.0.1:8401/websub\n");
});
