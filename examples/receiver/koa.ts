// Koa 2 or 3, here without a router.
import { koaHandler } from "@posthorn/receiver/koa";
import Koa from "koa";
import { receiver } from "./receiver.ts";

const handle = koaHandler(receiver);

export const app = new Koa();
app.use((context, next) => (context.path === "/webhooks" ? handle(context) : next())); // before bodyParser()
