// Connections to the databases of sources, which have neither Posthorn's schema nor its statements.
import pg from "pg";

export interface ForeignConnection {
  /** Columns are returned as PostgreSQL's text; several statements without values are allowed. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

const asText = { getTypeParser: () => (text: string) => text };

/** Slower than this counts as lost, like everywhere in storage; a poll of a large table without an index takes longer. */
const queryTimeoutMs = 60_000;

export function foreignClient(config: string | pg.ClientConfig, more: pg.ClientConfig = {}): pg.Client {
  return new pg.Client({
    ...(typeof config === "string" ? { connectionString: config } : config),
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: "posthorn",
    ...more,
  });
}

export async function connectForeign(config: string | pg.ClientConfig): Promise<ForeignConnection> {
  const client = foreignClient(config, { query_timeout: queryTimeoutMs });
  // the next query reports it
  client.on("error", () => {});
  await client.connect();
  return {
    query: async <Row>(text: string, values?: readonly unknown[]) =>
      (
        await client.query<Row & pg.QueryResultRow>({
          text,
          values: values && [...values],
          types: asText,
        } as pg.QueryConfig)
      ).rows,
    close: () => client.end().catch(() => {}),
  };
}

export const { escapeIdentifier, escapeLiteral } = pg;
