// The cost of a computation, independent of the load of the machine.

/** Milliseconds of processor time that this process spends in `work`. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
