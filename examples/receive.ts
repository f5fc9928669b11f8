// A receiver: raw bytes first, then the signature, then the work. Any Standard Webhooks library does the same.
import { createServer } from "node:http";
import { verify } from "@posthorn/wire";

const secret = process.env.WEBHOOK_SECRET ?? "";

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const result = await verify({
    scheme: "standard-webhooks",
    headers: request.headers,
    body,
    secrets: [secret],
  });
  if (!result.ok) {
    response.writeHead(401).end();
    return;
  }
  const event = JSON.parse(body.toString());
  console.log(`${event.type} ${event.id}`); // seen this id before? then answer 200 and do nothing
  response.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log("listening"));
process.once("SIGTERM", () => server.close());
