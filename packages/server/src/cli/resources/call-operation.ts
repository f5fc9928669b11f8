// Finds and calls the operations of the API for `posthorn api`.
import { type Operation, operationsOf, pathParamsOf } from "@posthorn/client";
import { didYouMean } from "@posthorn/wire";
import { usage } from "../failure.ts";
import { readData } from "../remote/data.ts";
import { type Remote, requireId } from "../remote/remote.ts";
import { writeRows } from "../remote/write-rows.ts";
import { table } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { jsonText } from "../terminal/text.ts";

type AnyCall = (input: object) => Promise<unknown>;

export async function call(
  { client, terminal }: Remote,
  name: string,
  pairs: readonly string[],
  data: string | undefined,
): Promise<void> {
  const operation = find(name);
  const parameters = parametersOf(pairs, operation);
  const body = data === undefined ? undefined : JSON.parse(await readData(data, terminal));
  const [resource = "", verb = ""] = name.split(".");
  const resources = client as unknown as Record<string, Record<string, AnyCall>>;
  const { isExport } = operation.response;
  const result = await resources[resource]?.[verb]?.({
    ...parameters,
    ...(body !== undefined && { body }),
    // an export may take longer than other calls
    ...(isExport && { signal: terminal.ending }),
  });
  if (isExport) await writeRows(terminal, result as Response);
  else if (result !== undefined) terminal.print(jsonText(result));
}

export function list(terminal: Terminal, isJson: boolean): void {
  const operations = operationsOf().map(([name, { method, path, summary }]) => ({
    name,
    method,
    path,
    summary,
  }));
  const describe = (): string =>
    table(
      terminal,
      [
        { title: "NAME", value: ({ name }) => name },
        { title: "METHOD", value: ({ method }) => method },
        { title: "PATH", value: ({ path }) => path, canShrink: true },
        { title: "SUMMARY", value: ({ summary }) => summary, canShrink: true },
      ],
      operations,
    );
  terminal.print(isJson ? jsonText(operations) : describe());
}

function find(name: string): Operation {
  const known = operationsOf();
  const [, operation] = known.find(([candidate]) => candidate === name) ?? [];
  if (operation !== undefined) return operation;
  const names = known.map(([candidate]) => candidate);
  throw usage(`There is no operation "${name}". ${didYouMean(name, names)} \`posthorn api\` lists them.`);
}

/** Path parameters by name; all others are the query. */
function parametersOf(pairs: readonly string[], { path }: Operation): Record<string, unknown> {
  const given = Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw usage(`"${pair}" is not a parameter. Write name=value, such as tenant=acme.`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
  const ofPath = pathParamsOf(path);
  const missing = ofPath.find((name) => !given[name]);
  if (missing !== undefined) throw usage(`${path} needs ${missing}=…`);
  const query = Object.fromEntries(Object.entries(given).filter(([name]) => !ofPath.includes(name)));
  for (const name of ofPath) requireId(given[name]);
  return { ...Object.fromEntries(ofPath.map((name) => [name, given[name]])), query };
}
