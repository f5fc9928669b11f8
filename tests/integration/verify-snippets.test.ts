// Runs the snippets that the portal shows for verifying, each in its language, on a delivery of a real server. Languages
// that are not installed are skipped.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startScriptedReceiver } from "posthorn/testing";
import { beforeAll, expect, test } from "vitest";
import { isAuthentic as isAuthenticByScheme } from "../../packages/dashboard/src/snippets/verify-by-scheme.ts";
import { isAuthentic } from "../../packages/dashboard/src/snippets/verify-webhook.ts";
import { isQuick } from "../support/matrix.ts";
import { startServer } from "../support/servers/start-server.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

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
  const receiver = await startScriptedReceiver();
  await server.call("PUT", "/api/v1/tenants/acme", {});
  const { json } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: receiver.url,
    events: ["*"],
  });
  const data = { note: "Grüße €" };
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data });
  const [request] = await receiver.received(1);
  delivery = {
    body: request?.body as Buffer,
    header: String(request?.headers["x-webhook-signature"]),
    headers: new Headers(request?.headers as Record<string, string>),
    secret: json.secret,
  };
  await receiver.close();
  for (const stop of stops) await stop();
});

const snippet = (name: string) =>
  fileURLToPath(new URL(`../../packages/dashboard/src/snippets/${name}`, import.meta.url));

/** A program that prints true or false of the body on its standard input. */
interface Runtime {
  readonly file: string;
  /** The command line, run in a folder with the files. */
  readonly command: readonly [program: string, ...args: string[]];
  readonly compiler?: readonly [program: string, ...args: string[]];
  files(source: string): Readonly<Record<string, string>>;
}

const runtimes: Readonly<Record<string, Runtime>> = {
  Python: {
    file: "verify_webhook.py",
    command: ["python3", "v.py"],
    files: (source) => ({
      "v.py": `${source}\nimport os, sys\nprint(str(is_authentic(sys.stdin.buffer.read(), os.environ["HEADER"], os.environ["SECRET"])).lower())\n`,
    }),
  },
  Go: {
    file: "verify_webhook.go",
    command: ["./snippet"],
    compiler: ["go", "build", "-o", "snippet", "."],
    files: (source) => ({
      "main.go":
        source
          .replace("package webhook", "package main")
          .replace("import (", 'import (\n\t"fmt"\n\t"io"\n\t"os"') +
        '\nfunc main() {\n\tbody, _ := io.ReadAll(os.Stdin)\n\tfmt.Println(IsAuthentic(body, os.Getenv("HEADER"), os.Getenv("SECRET")))\n}\n',
      "go.mod": "module snippet\n\ngo 1.19\n",
    }),
  },
  Ruby: {
    file: "verify_webhook.rb",
    command: ["ruby", "v.rb"],
    files: (source) => ({
      "v.rb": `${source}\nputs authentic?($stdin.binmode.read, ENV["HEADER"], ENV["SECRET"])\n`,
    }),
  },
  PHP: {
    file: "verify-webhook.php",
    command: ["php", "v.php"],
    files: (source) => ({
      "v.php": `${source}\necho is_authentic(stream_get_contents(STDIN), getenv('HEADER'), getenv('SECRET')) ? "true" : "false";\n`,
    }),
  },
  Java: {
    file: "VerifyWebhook.java",
    command: ["java", "Main"],
    compiler: ["javac", "Main.java", "VerifyWebhook.java"],
    files: (source) => ({
      "VerifyWebhook.java": source,
      "Main.java":
        'public class Main { public static void main(String[] a) throws Exception { System.out.println(VerifyWebhook.isAuthentic(System.in.readAllBytes(), System.getenv("HEADER"), System.getenv("SECRET"))); } }',
    }),
  },
};

function isThere(command: string): boolean {
  return spawnSync("which", [command]).status === 0;
}

/** The program's results for a genuine delivery and for changed ones. */
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

test("the TypeScript snippet accepts a delivery and rejects a changed one", () => {
  for (const { what, body, header, secret, expected } of cases(delivery)) {
    expect([what, isAuthentic(body, header, secret)]).toEqual([what, expected]);
  }
});

test("the snippet for other schemes accepts a delivery and rejects a changed one", async () => {
  const { headers, body, secret } = delivery;
  const request = { headers, body, url: "https://example.com/" };
  expect(await isAuthenticByScheme(request, secret)).toBe(true);
  expect(await isAuthenticByScheme({ ...request, body: Buffer.from("{}") }, secret)).toBe(false);
  // the page puts the name of the endpoint's scheme in its place
  const source = readFileSync(snippet("verify-by-scheme.ts"), "utf8");
  expect(source.split('"standard-webhooks"')).toHaveLength(2);
});

test.skipIf(isQuick).for(Object.entries(runtimes))(
  "the %s snippet accepts a delivery and rejects a changed one",
  ([language, { file, command, compiler, files }], { skip }) => {
    const [program, ...args] = command;
    skip(!isThere(compiler?.[0] ?? program), `${language} is not installed`);
    const cwd = makeTemporaryFolder();
    for (const [name, content] of Object.entries(files(readFileSync(snippet(file), "utf8"))))
      writeFileSync(join(cwd, name), content);
    if (compiler !== undefined) execFileSync(compiler[0], compiler.slice(1), { cwd });
    for (const { what, body, header, secret, expected } of cases(delivery)) {
      const env = { ...process.env, HEADER: header, SECRET: secret };
      const { stdout, stderr } = spawnSync(program, args, { cwd, env, input: body, encoding: "utf8" });
      expect([what, stdout.trim(), stderr]).toEqual([what, String(expected), ""]);
    }
  },
);
