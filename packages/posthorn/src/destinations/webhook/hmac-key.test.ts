// HMACs compared with those of createHmac.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { HmacKey } from "./sign.ts";

test("signatures are those of createHmac, for keys and contents of any length", () => {
  const text = "é€😀.";
  for (const name of ["sha256", "sha1"] as const) {
    for (const keyBytes of [1, 20, 63, 64, 65, 200]) {
      const key = new Uint8Array(keyBytes).fill(0xa5);
      for (const bodyBytes of [0, 1, 1_000, 65_400, 65_536, 200_000]) {
        const body = new Uint8Array(bodyBytes).fill(0x7b);
        const expected = createHmac(name, key).update(text).update(body).update(text);
        expect(new HmacKey(name, key).sign([text, body, text], "base64")).toBe(expected.digest("base64"));
      }
    }
  }
});
