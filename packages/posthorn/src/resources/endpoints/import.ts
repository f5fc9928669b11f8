// Creates and updates many endpoints, all or nothing. A dry run makes the same checks and writes nothing.
import { isDeepStrictEqual } from "node:util";
import { formatId, parseId } from "@posthorn/wire";
import type { HostFindings } from "../../attempt/guard/look-up-hosts.ts";
import { type InputProblem, PosthornError } from "../../errors.ts";
import type { Uuid } from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { countEndpoints, type EndpointRow, lockEndpoint } from "../../storage/queries/endpoints/read.ts";
import type { EndpointSettings } from "../../storage/queries/endpoints/setting-columns.ts";
import { boolean, readFields, required } from "../read-fields.ts";
import { counted } from "../tenants/tenants.ts";
import { type EndpointChanges, invalidEndpoint as invalid } from "./changes.ts";
import {
  type EndpointInput,
  type EndpointPatch,
  type EndpointWarning,
  parseEndpointInput,
  parseEndpointPatch,
  type SettingsContext,
  tokenIn,
  warningsOf,
} from "./settings.ts";
import { type ReadOnlyFields, withoutReadOnly } from "./settings-check.ts";
import type { EndpointWriter, NewEndpoint } from "./writer.ts";

/** A patch of the endpoint with this `id`, or a new endpoint. Read-only fields are ignored. */
export type ImportItem = (EndpointInput | (EndpointPatch & { readonly id: string })) & ReadOnlyFields;

export interface ImportInput {
  /** 1 to 500. */
  readonly endpoints: readonly ImportItem[];
  /** Reports what would be done, without doing it. */
  readonly dryRun?: boolean | undefined;
}

export interface ImportResult {
  readonly dryRun: boolean;
  /** In the order given. */
  readonly endpoints: readonly ImportedEndpoint[];
}

export interface ImportedEndpoint {
  readonly action: "created" | "updated" | "unchanged";
  /** Null for one that a dry run would create. */
  readonly id: string | null;
  /** The URL after the import. */
  readonly url: string;
  /** The secret of a new endpoint, returned only here. */
  readonly secret: string | null;
  readonly warnings: readonly EndpointWarning[];
}

interface EndpointImportOptions {
  readonly context: (hosts: HostFindings) => Promise<SettingsContext>;
  readonly changes: EndpointChanges;
  readonly writer: EndpointWriter;
  readonly maxPerTenant: number;
}

export const maxImported = 500;

type Planned =
  | { readonly action: "created"; readonly made: NewEndpoint }
  | {
      readonly action: "updated";
      readonly current: EndpointRow;
      readonly settings: EndpointSettings;
      readonly token: string | null;
    }
  | { readonly action: "unchanged"; readonly current: EndpointRow };

export function createEndpointImport({ context, changes, writer, maxPerTenant }: EndpointImportOptions) {
  return importEndpoints;

  async function importEndpoints(
    tenant: string,
    input: ImportInput,
    hosts: HostFindings,
  ): Promise<ImportResult> {
    const { items, dryRun } = readInput(input);
    const problems: InputProblem[] = [];
    const asOfNow = await context(hosts);
    const made = await eachItem(items, problems, (item) => prepareNew(item, asOfNow));
    const endpoints = await changes.change(tenant, async (tx) => {
      await checkLimit(tx, tenant, made.filter((item) => item !== null).length);
      const plan = await eachItem(items, problems, (item, index) =>
        planOne(tx, tenant, item, made[index] ?? null, asOfNow),
      );
      refuseAll(problems, items.length);
      const planned = (plan as Planned[]).map((item) => ({ item, result: toResult(item, hosts) }));
      if (dryRun) return { result: planned.map(({ result }) => result), endpointIds: [] };
      const written: ImportedEndpoint[] = [];
      for (const { item, result } of planned)
        written.push({ ...result, ...(await writeOne(tx, tenant, item)) });
      const changed = written.filter(({ action }) => action !== "unchanged");
      return { result: written, endpointIds: changed.map(({ id }) => parseId("ep", id as string) as Uuid) };
    });
    return { dryRun, endpoints };
  }

  /** Returns null for a patch. */
  async function prepareNew(item: ImportItem, asOfNow: SettingsContext): Promise<NewEndpoint | null> {
    if (isPatch(item)) return null;
    return await writer.prepare(parseEndpointInput(withoutReadOnly(item), asOfNow));
  }

  async function planOne(
    tx: Queryable,
    tenant: string,
    item: ImportItem,
    made: NewEndpoint | null,
    asOfNow: SettingsContext,
  ): Promise<Planned | null> {
    if (made !== null) return { action: "created", made };
    // a new endpoint that prepareNew refused
    if (!isPatch(item)) return null;
    const uuid = parseId("ep", String(item.id));
    const current = uuid === null ? null : await lockEndpoint(tx, tenant, uuid);
    // the same message whether it never existed, belongs to another tenant, or was deleted
    if (current === null)
      throw invalid(
        "/id",
        "There is no endpoint with that id in this tenant. Leave out the id to create one.",
      );
    // exports contain subscriptions, which only their subscriber can change
    if (current.leaseEndsMs !== null) return { action: "unchanged", current };
    const settings = parseEndpointPatch(withoutReadOnly(item), current, asOfNow);
    await writer.checkStillSigned(tx, current, settings);
    const isSame = Object.entries(settings).every(([name, value]) =>
      isDeepStrictEqual(value, current[name as keyof EndpointRow]),
    );
    const token = tokenIn(item);
    if (isSame && token === null) return { action: "unchanged", current };
    return { action: "updated", current, settings, token };
  }

  async function checkLimit(tx: Queryable, tenant: string, added: number): Promise<void> {
    if (added === 0) return;
    const existing = await countEndpoints(tx, tenant);
    if (existing + added <= maxPerTenant) return;
    throw new PosthornError(
      "endpoint_limit_reached",
      `Tenant "${tenant}" has ${counted(existing)}, the import adds ${added}, and the limit is ${maxPerTenant}. Import fewer, or raise maxEndpointsPerTenant.`,
    );
  }

  /** Returns what only the write reveals. */
  async function writeOne(
    tx: Queryable,
    tenant: string,
    item: Planned,
  ): Promise<Partial<Pick<ImportedEndpoint, "id" | "secret">>> {
    if (item.action === "created") {
      const { id } = await writer.insert(tx, tenant, item.made);
      return { id: formatId("ep", id), secret: item.made.secret.text };
    }
    if (item.action === "updated") await writer.update(tx, item.current, item.settings, item.token);
    return {};
  }
}

function toResult(item: Planned, hosts: HostFindings): ImportedEndpoint {
  const { action } = item;
  if (action === "created") {
    const { settings } = item.made;
    return { action, id: null, url: settings.url, secret: null, warnings: warningsOf(settings, hosts) };
  }
  const { current } = item;
  const next = action === "updated" ? item.settings : current;
  const warnings = next.url === current.url ? [] : warningsOf(next, hosts);
  return { action, id: formatId("ep", current.id), url: next.url, secret: null, warnings };
}

function isPatch(item: ImportItem): item is EndpointPatch & { readonly id: string } {
  return typeof item === "object" && item !== null && "id" in item && item.id !== undefined;
}

/** Processes all items in order, and collects the problems of each. */
async function eachItem<Result>(
  items: readonly ImportItem[],
  problems: InputProblem[],
  work: (item: ImportItem, index: number) => Promise<Result>,
): Promise<(Result | null)[]> {
  const results: (Result | null)[] = [];
  for (const [index, item] of items.entries()) {
    results.push(
      await work(item, index).catch((error) => {
        if (!(error instanceof PosthornError) || error.code !== "invalid_endpoint") throw error;
        for (const { pointer, message } of error.problems)
          problems.push({ pointer: `/endpoints/${index}${pointer}`, message });
        return null;
      }),
    );
  }
  return results;
}

const FIELDS = {
  endpoints: required<readonly ImportItem[]>(
    (items) => Array.isArray(items) && items.length >= 1 && items.length <= maxImported,
    `is a list of 1 to ${maxImported} endpoints.`,
  ),
  dryRun: boolean,
};

function readInput(input: ImportInput): { items: readonly ImportItem[]; dryRun: boolean } {
  const { endpoints: items, dryRun } = readFields("invalid_endpoint", "An import has no", input, FIELDS);
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (!isPatch(item)) continue;
    if (seen.has(item.id)) throw invalid(`/endpoints/${index}/id`, "This endpoint is already in the list.");
    seen.add(item.id);
  }
  return { items, dryRun: dryRun ?? false };
}

function refuseAll(problems: readonly InputProblem[], count: number): void {
  const [first] = problems;
  if (first === undefined) return;
  const wrong = new Set(problems.map(indexOf)).size;
  const message = `${wrong} of ${count} endpoints cannot be imported, so none was. ${first.pointer}: ${first.message}`;
  // sorted by item, because new endpoints are checked before patches
  const inOrder = problems.toSorted((a, b) => indexOf(a) - indexOf(b));
  throw new PosthornError("invalid_endpoint", message, { problems: inOrder });
}

function indexOf({ pointer }: InputProblem): number {
  return Number(pointer.split("/")[2]);
}
