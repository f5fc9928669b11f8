// npm run bench: measures publishing and delivery with database, load generator and receiver on the same machine, and in
// the same run the ceiling: a process that does only the unavoidable work.

import { type Plan, readPlan } from "./options.ts";
import { backlogTable } from "./parts/backlog.ts";
import { failuresTable } from "./parts/failures.ts";
import { listsTable } from "./parts/lists.ts";
import { processesTable } from "./parts/processes.ts";
import { receivingTable } from "./parts/receiving.ts";
import { throughputTable } from "./parts/throughput.ts";
import { closeOnAbort } from "./system/close-on-abort.ts";
import { machineLine } from "./table.ts";
import { World } from "./world.ts";

const legend = `A delivery counts when its success is recorded. Statements, WAL bytes and µs of processor time are per delivery. The
ceiling only receives, inserts in batches, sends signed POSTs and stores results in batches. Others' load is the share of
the machine used by processes outside the benchmark in the worst run; above a few per cent the figures are unreliable:
repeat them on an idle machine.
Processes: CPU is that of Node and PostgreSQL together. Two servers with a database each share nothing but the machine:
what two processes cost beyond them is the cost of sharing a database. Ceilings are compared with one ceiling. Target at
200/s: 0.8 ms per delivery.
Over https: TLS 1.3, connections kept open, certificates of a private authority.
Targets on 2 cores: 8,000/s single, 15,000/s in batches, p50 ≤ 3 ms, 0.70 of the ceiling, less than 300 MB with 1,000,000
queued, a page of a list within 50 ms at 1,000,000 rows and at most 3 times as long as at 1,000.
Receiving: signed 1 KB requests on Node's http, 64 connections, each with its own id and one insert as its effect. By hand
means node:crypto and begin, insert on conflict do nothing, insert, commit. Lease mode commits three times.
Targets: 0.80 of by hand in transactional mode, 0.50 of the bare handler with memory.`;

const plan = readPlan(process.argv.slice(2));
if (plan !== null) await run(plan);

async function run(plan: Plan): Promise<void> {
  const opening = World.create();
  closeOnAbort(async () => (await opening).close());
  const world = await opening;
  try {
    const tables: (string | null)[] = [];
    for (const measureTable of [
      throughputTable,
      processesTable,
      backlogTable,
      listsTable,
      failuresTable,
      receivingTable,
    ])
      tables.push(await measureTable(world, plan));
    for (const table of tables) if (table !== null) console.log(`\n${table}`);
    console.log(`\n${legend}\n${machineLine(world.postgresVersion)}`);
  } catch (error) {
    if (!world.isClosed) console.error(error);
    process.exitCode = 1;
  } finally {
    await world.close();
  }
}
