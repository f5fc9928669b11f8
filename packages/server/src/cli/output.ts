// What a command tells a person goes to standard output; log lines and complaints go to standard error.

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printError(text: string): void {
  process.stderr.write(`${text}\n`);
}
