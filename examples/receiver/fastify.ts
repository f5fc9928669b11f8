// Fastify 5. Other routes keep their parsers.
import { fastifyPlugin } from "@posthorn/receiver/fastify";
import fastify from "fastify";
import { receiver } from "./receiver.ts";

export const app = fastify();
app.register(fastifyPlugin(receiver), { prefix: "/webhooks" });
