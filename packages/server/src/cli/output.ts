// Output of commands that run on this machine: results to standard output, progress and errors to standard error.

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printError(text: string): void {
  process.stderr.write(`${text}\n`);
}
