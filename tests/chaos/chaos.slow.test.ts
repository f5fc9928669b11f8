// The short run of the chaos test with a fixed seed, and two of the planted bugs. For all bugs:
// npm run chaos -- --self-test.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, type TestContext, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

test("every invariant holds through kills, freezes, restarts and lost connections", async (context) => {
  const { output, lastLine, code } = await chaos(context, "--smoke", "--seed", "5");
  expect(lastLine, output).toMatch(
    /^seed 5: acked [1-9]\d+, delivered [1-9]\d+, lost 0, phantom 0, dup \d+ \(bound \d+\), order 0, recover (none|p99 [\d.]+ s), kills [1-9]\d?, pg restarts [1-9]$/,
  );
  expect(code, output).toBe(0);
});

// one after the other: together each would have half of the processors and the same time limit
describe("a planted bug is detected", () => {
  test.for([
    ["sign-reserialized-json", "phantom"],
    ["guard-on-lookup-only", "canaries"],
  ] as const)("%s by the invariant %s", async ([plant, invariant], context) => {
    const { output, code } = await chaos(context, "--self-test", "--plant", plant, "--seed", "1");
    expect(output).toMatch(new RegExp(`^${plant}: detected by (.*, )?${invariant}`, "m"));
    expect(code, output).toBe(0);
  });
});

async function chaos(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  ...args: string[]
): Promise<{ output: string; lastLine: string; code: number | null }> {
  const flags = ["--conditions=posthorn-source", "--import", "tsx", "chaos/main.ts"];
  const child = spawn(process.execPath, [...flags, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, TZ: process.env.TZ, TMPDIR: process.env.TMPDIR },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // it stops what it started
  onTestFinished(() => void child.kill("SIGTERM"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { output, lastLine: output.trimEnd().split("\n").at(-1) ?? "", code };
}
