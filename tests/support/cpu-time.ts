// The cost of a computation, whatever else the machine does meanwhile.

/** Milliseconds of processor time that this process spends in `work`. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
