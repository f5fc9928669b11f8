// Finds the endpoint that a command names by its id or its name.
import type { Endpoint, PosthornClient } from "@posthorn/client";
import { usage } from "../failure.ts";
import { clean } from "../terminal/text.ts";

const PAGE_LIMIT = 250;
const MAX_LISTED = 5;

/** Returns an id as it is. Throws if there is no endpoint of that name, or more than one. */
export async function endpointIdOf(
  client: PosthornClient,
  idOrName: string,
  tenant: string | undefined,
): Promise<string> {
  if (idOrName.startsWith("ep_")) return idOrName;
  const named = await endpointsNamed(client, idOrName, tenant);
  const [first] = named;
  const where = tenant === undefined ? "" : ` of tenant ${clean(tenant)}`;
  if (first === undefined)
    throw usage(
      `No endpoint${where} is named ${JSON.stringify(idOrName)}. List their names with: posthorn endpoints list --tenant ${clean(tenant ?? "<tenant>")}`,
    );
  if (named.length === 1) return first.id;
  const listed = named.slice(0, MAX_LISTED).map(({ id, tenant: owner }) => `${id} (${clean(owner)})`);
  throw usage(
    `${named.length} endpoints${where} are named ${JSON.stringify(idOrName)}: ${listed.join(", ")}${named.length > MAX_LISTED ? ", …" : ""}. Use an id.`,
  );
}

async function endpointsNamed(
  client: PosthornClient,
  name: string,
  tenant: string | undefined,
): Promise<Endpoint[]> {
  const named: Endpoint[] = [];
  let cursor: string | undefined;
  do {
    const query = { search: name, limit: PAGE_LIMIT, ...(tenant && { tenant }), ...(cursor && { cursor }) };
    const page = await client.endpoints.listAll({ query });
    named.push(...page.data.filter((endpoint) => endpoint.name === name));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return named;
}
