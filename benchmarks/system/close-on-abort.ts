/** Closes everything and exits when a signal arrives or the reader of the output is gone, as in `npm run bench | head`. */
export function closeOnAbort(close: () => Promise<unknown>): { readonly isAborting: boolean } {
  const state = { isAborting: false };
  const abort = (exitCode: number): void => {
    if (state.isAborting) return;
    state.isAborting = true;
    void close().finally(() => process.exit(exitCode));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => abort(130));
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => abort(1));
  return state;
}
