// Node's http module.
import { createServer } from "node:http";
import { nodeHandler } from "@posthorn/receiver/node";
import { receiver } from "./receiver.ts";

export const server = createServer(nodeHandler(receiver));
