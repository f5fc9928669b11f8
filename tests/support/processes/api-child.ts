// A server with the API, in a process of its own, so that a test can limit its memory. Prints its URL.
import { createPosthorn } from "posthorn";
import { createServer } from "../../../packages/server/src/server.ts";

const [database = "", adminKey = ""] = process.argv.slice(2);
const hooks = createPosthorn({ database, encryptionKeys: `test:${Buffer.alloc(32).toString("base64")}` });
const { url } = await createServer({ hooks, port: 0, adminKey }).start();
console.log(url);
