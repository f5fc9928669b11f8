// Starts and controls embedded-postgres-user.ts, and creates the folders such processes work in.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { type Account, canExecute, canRead } from "../../../packages/embedded-postgres/src/account.ts";
import { bundleProgram } from "../processes/bundle-program.ts";
import { linkTarget, makePostgresFolder, postmasterPid } from "./own-postgres.ts";

const program = await bundleProgram(new URL("./embedded-postgres-user.ts", import.meta.url));
const root = fileURLToPath(new URL("../../..", import.meta.url));

export const isRoot = process.getuid?.() === 0;
export const nobody: Account = { uid: 65534, gid: 65534 };
/** Root can start processes of another account, if that account can reach Node and this repository. */
export const canStartOthers =
  isRoot && canExecute(nobody, realpathSync(process.execPath)) && canRead(nobody, program);

export function startUser(account?: Account) {
  const child = spawn(process.execPath, [program], {
    cwd: root,
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR },
    stdio: ["pipe", "pipe", "inherit"],
    ...account,
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, "exit");

  async function run(action: string, argument = ""): Promise<never> {
    child.stdin.write(`${JSON.stringify([action, argument])}\n`);
    const line = await lines.next();
    if (line.done) throw new Error(`the process ended during ${action}`);
    const { result, error } = JSON.parse(line.value);
    if (error) throw Object.assign(new Error(error.message), { code: error.code });
    return result as never;
  }

  /** Sends SIGKILL and waits until the process has ended. */
  async function kill(): Promise<void> {
    child.kill("SIGKILL");
    await ended;
  }

  onTestFinished(kill);
  return {
    /** Opens the data directory; returns how to connect and how long it took. */
    open: (dataDir: string): Promise<{ connection: { host: string }; tookMs: number }> =>
      run("open", dataDir),
    query: (sql: string): Promise<Record<string, unknown>[]> => run("query", sql),
    close: (): Promise<void> => run("close"),
    run: (action: string, argument: string): Promise<unknown> => run(action, argument),
    kill,
  };
}

/** A folder any account may enter, removed when the test ends. */
export function makeTemporaryFolder(mode = 0o755): string {
  const folder = makePostgresFolder("posthorn-embedded-");
  chmodSync(folder, mode);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** The path of a data directory that does not exist yet, whose server is stopped with the test. */
export function chooseDataDir(options: { parent?: string; name?: string } = {}): string {
  const dataDir = join(options.parent ?? makeTemporaryFolder(), options.name ?? "data");
  onTestFinished(() => {
    const [pid, elsewhere] = [postmasterPid(dataDir), linkTarget(join(dataDir, "postgres"))];
    if (pid !== null) process.kill(pid, "SIGKILL");
    if (elsewhere !== null) rmSync(elsewhere, { recursive: true, force: true, maxRetries: 10 });
  });
  return dataDir;
}
