// What the portal shows for verifying is run here as it stands, each in its own language, on a delivery that a real
// server sent. A language that this machine does not have is left out.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isAuthentic as isAuthenticByScheme } from "../../packages/dashboard/src/snippets/verify-by-scheme.ts";
import { isAuthentic } from "../../packages/dashboard/src/snippets/verify-webhook.ts";
import { isQuick } from "../support/matrix.ts";
import { startServer } from "../support/start-server.ts";

interface Delivery {
  readonly body: Buffer;
  readonly header: string;
  readonly headers: Headers;
  readonly secret: string;
}

let delivery: Delivery;

beforeAll(async () => {
  const stops: (() => Promise<void>)[] = [];
  const server = await startServer({ atEnd: (stop) => stops.push(stop) });
  const arrived = new Promise<Omit<Delivery, "secret">>((resolve) => {
    const receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        response.end();
        receiver.close();
        resolve({
          body: Buffer.concat(chunks),
          header: String(request.headers["x-webhook-signature"]),
          headers: new Headers(request.headers as Record<string, string>),
        });
      });
    });
    receiver.listen(0, "127.0.0.1", () => {
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
      stops.push(async () => void receiver.close());
      made = server.call("PUT", "/api/v1/tenants/acme", {}).then(async () => {
        const { json } = await server.call("POST", "/api/v1/tenants/acme/endpoints", { url, events: ["*"] });
        await server.call("POST", "/api/v1/events", {
          tenant: "acme",
          type: "order.paid",
          data: { note: "Grüße €" },
        });
        return json.secret as string;
      });
    });
  });
  let made: Promise<string> = Promise.resolve("");
  const request = await arrived;
  delivery = { ...request, secret: await made };
  for (const stop of stops) await stop();
});

const snippet = (name: string) =>
  fileURLToPath(new URL(`../../packages/dashboard/src/snippets/${name}`, import.meta.url));

/** Each prints true or false of the body on its standard input. */
interface Runtime {
  readonly command: string;
  readonly file: string;
  /** What is to be run in a folder of its own. */
  prepare(folder: string, source: string): readonly string[];
}

const runtimes: Readonly<Record<string, Runtime>> = {
  Python: {
    command: "python3",
    file: "verify_webhook.py",
    prepare: (folder, source) => {
      writeFileSync(
        join(folder, "v.py"),
        `${source}\nimport os, sys\nprint(str(is_authentic(sys.stdin.buffer.read(), os.environ["HEADER"], os.environ["SECRET"])).lower())\n`,
      );
      return ["python3", "v.py"];
    },
  },
  Go: {
    command: "go",
    file: "verify_webhook.go",
    prepare: (folder, source) => {
      const main =
        '\nfunc main() {\n\tbody, _ := io.ReadAll(os.Stdin)\n\tfmt.Println(IsAuthentic(body, os.Getenv("HEADER"), os.Getenv("SECRET")))\n}\n';
      const asMain = source
        .replace("package webhook", "package main")
        .replace("import (", 'import (\n\t"fmt"\n\t"io"\n\t"os"');
      writeFileSync(join(folder, "main.go"), asMain + main);
      writeFileSync(join(folder, "go.mod"), "module snippet\n\ngo 1.19\n");
      return ["go", "run", "."];
    },
  },
  Ruby: {
    command: "ruby",
    file: "verify_webhook.rb",
    prepare: (folder, source) => {
      writeFileSync(
        join(folder, "v.rb"),
        `${source}\nputs authentic?($stdin.binmode.read, ENV["HEADER"], ENV["SECRET"])\n`,
      );
      return ["ruby", "v.rb"];
    },
  },
  PHP: {
    command: "php",
    file: "verify-webhook.php",
    prepare: (folder, source) => {
      writeFileSync(
        join(folder, "v.php"),
        `${source}\necho is_authentic(stream_get_contents(STDIN), getenv('HEADER'), getenv('SECRET')) ? "true" : "false";\n`,
      );
      return ["php", "v.php"];
    },
  },
  Java: {
    command: "javac",
    file: "VerifyWebhook.java",
    prepare: (folder, source) => {
      writeFileSync(join(folder, "VerifyWebhook.java"), source);
      writeFileSync(
        join(folder, "Main.java"),
        'public class Main { public static void main(String[] a) throws Exception { System.out.println(VerifyWebhook.isAuthentic(System.in.readAllBytes(), System.getenv("HEADER"), System.getenv("SECRET"))); } }',
      );
      execFileSync("javac", ["Main.java", "VerifyWebhook.java"], { cwd: folder });
      return ["java", "Main"];
    },
  },
};

function isThere(command: string): boolean {
  return spawnSync("which", [command]).status === 0;
}

/** What the program says of a genuine delivery, and of it with one thing changed. */
function cases({ body, header, secret }: Delivery) {
  const longAgo = header.replace(/t=\d+/, "t=1600000000");
  return [
    { what: "as it came", body, header, secret, expected: true },
    { what: "after a rotation", body, header: `${header},v1=${"0".repeat(64)}`, secret, expected: true },
    { what: "another body", body: Buffer.concat([body, Buffer.from(" ")]), header, secret, expected: false },
    { what: "another secret", body, header, secret: `${secret}x`, expected: false },
    { what: "another time", body, header: longAgo, secret, expected: false },
    { what: "no signature", body, header: header.replace(/,v1=.*/, ""), secret, expected: false },
    { what: "nonsense", body, header: "=,v1,t=", secret, expected: false },
  ] as const;
}

test("the TypeScript snippet accepts a delivery, and nothing that was changed", () => {
  for (const { what, body, header, secret, expected } of cases(delivery)) {
    expect([what, isAuthentic(body, header, secret)]).toEqual([what, expected]);
  }
});

test("the snippet for other schemes accepts a delivery, and nothing that was changed", async () => {
  const { headers, body, secret } = delivery;
  const request = { headers, body, url: "https://example.com/" };
  expect(await isAuthenticByScheme(request, secret)).toBe(true);
  expect(await isAuthenticByScheme({ ...request, body: Buffer.from("{}") }, secret)).toBe(false);
  // the page puts the name of the endpoint's scheme in its place
  const source = readFileSync(snippet("verify-by-scheme.ts"), "utf8");
  expect(source.split('"standard-webhooks"')).toHaveLength(2);
});

describe.each(Object.entries(runtimes))("%s", (_language, { command, file, prepare }) => {
  test.skipIf(isQuick || !isThere(command))("accepts a delivery, and nothing that was changed", () => {
    const folder = mkdtempSync(join(tmpdir(), "posthorn-snippet-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [program = "", ...args] = prepare(folder, readFileSync(snippet(file), "utf8"));
    for (const { what, body, header, secret, expected } of cases(delivery)) {
      const env = { ...process.env, HEADER: header, SECRET: secret };
      const { stdout, stderr } = spawnSync(program, args, {
        cwd: folder,
        env,
        input: body,
        encoding: "utf8",
      });
      expect([what, stdout.trim(), stderr]).toEqual([what, String(expected), ""]);
    }
  });
});
