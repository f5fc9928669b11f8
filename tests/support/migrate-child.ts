// A process that migrates the database of its first argument as often as its second says, then tells what it applied.
import { createPosthorn } from "posthorn";

const [database, times] = process.argv.slice(2) as [string, string];
const applied: unknown[] = [];
for (let time = 0; time < Number(times); time += 1) {
  const hooks = createPosthorn({ database });
  applied.push(...(await hooks.migrate()).applied);
  await hooks.stop();
}
process.stdout.write(JSON.stringify(applied));
