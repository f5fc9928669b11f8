// A receiver: raw bytes first, then the signature, then the work. Any Standard Webhooks library does the same.
import { createServer, type IncomingMessage } from "node:http";
import { parseSecret, verify } from "@posthorn/wire";

const secrets = [process.env.WEBHOOK_SECRET ?? ""]; // while one is being changed: the old and the new
if (!secrets.every((secret) => parseSecret(secret)?.kind === "shared")) {
  console.error(
    "Set WEBHOOK_SECRET to the endpoint's secret, whsec_ and base64: endpoints.create returns it.",
  );
  process.exit(1);
}
const maxBytes = 1024 * 1024; // data is at most 256 KB

const server = createServer(async (request, response) => {
  try {
    response.writeHead(await receive(request)).end();
  } catch (error) {
    console.error(String(error)); // 500: it is sent again later
    response.writeHead(500).end();
  }
});

async function receive(request: IncomingMessage): Promise<number> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  if (bytes > maxBytes) return 413;
  const body = Buffer.concat(chunks);
  const { headers } = request;
  const result = await verify({ scheme: "standard-webhooks", headers, body, secrets });
  if (!result.ok) return 401;
  const event = parse(body);
  if (event === null) return 400;
  console.log(`${event.type} ${event.id}`); // seen this id before? then answer 200 and do nothing
  return 204;
}

function parse(body: Buffer): { readonly id: string; readonly type: string } | null {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log("listening"));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.close());
