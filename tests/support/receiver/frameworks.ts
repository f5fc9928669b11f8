// A real server of every framework that has an adapter, with the receiver at /webhooks: as documented, and with the
// usual mistake.
import "reflect-metadata";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { All, Controller, type INestApplication, Module, Req, Res } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import { fetchHandler, type RequestHandler } from "@posthorn/receiver";
import { expressHandler } from "@posthorn/receiver/express";
import { fastifyPlugin } from "@posthorn/receiver/fastify";
import { koaHandler } from "@posthorn/receiver/koa";
import { nestHandler } from "@posthorn/receiver/nestjs";
import { nextPagesHandler } from "@posthorn/receiver/next-pages";
import { nodeHandler } from "@posthorn/receiver/node";
import express from "express";
import express4 from "express4";
import fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { type Listening, serve } from "../servers/http.ts";

export interface Framework {
  readonly name: string;
  serve(receiver: RequestHandler): Promise<Listening>;
  /** With something before the receiver that reads the body. */
  serveParsed(receiver: RequestHandler): Promise<Listening>;
  /** Parts of the error message: the cause and the solution. */
  readonly blames: string;
  readonly advises: string;
}

const PATH = "/webhooks";

export const frameworks: readonly Framework[] = [
  {
    name: "Node http",
    serve: (receiver) => listen(createServer(nodeHandler(receiver))),
    serveParsed(receiver) {
      const handle = nodeHandler(receiver);
      return listen(
        createServer(async (request, response) => {
          for await (const _piece of request);
          await handle(request, response);
        }),
      );
    },
    blames: "something read the request's stream first",
    advises: "before anything that listens to the request's data",
  },
  expressFramework("Express 5", express),
  expressFramework("Express 4", express4),
  {
    name: "Express 5 with express.raw()",
    serve(receiver) {
      const raw = express.raw({ type: () => true, limit: "1mb" });
      return listen(createServer(express().all(PATH, raw, expressHandler(receiver))));
    },
    serveParsed: (receiver) =>
      listen(
        createServer(
          express()
            .use(express.text({ type: () => true }))
            .all(PATH, expressHandler(receiver)),
        ),
      ),
    blames: "or another body parser, ran first",
    advises: "express.raw({ type: () => true",
  },
  {
    name: "Fastify",
    serve: (receiver) => listenFastify(fastify(), receiver),
    serveParsed(receiver) {
      const app = fastify();
      app.addHook("preParsing", async (_request, _reply, payload) => {
        for await (const _piece of payload);
      });
      return listenFastify(app, receiver);
    },
    blames: "a preParsing hook",
    advises: "where that hook does not apply",
  },
  {
    name: "Koa",
    serve: (receiver) => listen(createServer(quietKoa().use(koaHandler(receiver)).callback())),
    serveParsed(receiver) {
      const app = quietKoa();
      app.use(async (context, next) => {
        let text = "";
        for await (const piece of context.req) text += piece;
        Object.assign(context.request, { body: JSON.parse(text), rawBody: text });
        await next();
      });
      return listen(createServer(app.use(koaHandler(receiver)).callback()));
    },
    blames: "bodyParser()",
    advises: "above app.use(bodyParser())",
  },
  {
    name: "NestJS controller, rawBody: true",
    async serve(receiver) {
      const app = await NestFactory.create<NestExpressApplication>(nestModule(receiver), {
        rawBody: true,
        logger: false,
      });
      app.useBodyParser("json", { limit: "1mb" });
      return listenNest(app);
    },
    serveParsed: async (receiver) =>
      listenNest(await NestFactory.create(nestModule(receiver), { logger: false })),
    blames: "Nest's body parser",
    advises: "rawBody: true",
  },
  {
    name: "NestJS middleware",
    async serve(receiver) {
      const app = await NestFactory.create(class AppModule {}, { logger: false });
      app.use(PATH, nestHandler(receiver));
      return listenNest(app);
    },
    async serveParsed(receiver) {
      const app = await NestFactory.create<NestExpressApplication>(class AppModule {}, { logger: false });
      app.useBodyParser("json");
      app.use(PATH, nestHandler(receiver));
      return listenNest(app);
    },
    blames: "Nest's body parser",
    advises: "rawBody: true",
  },
  {
    // Next.js is not among the dependencies: this gives the handler what apiResolver of Next 15 gives it
    name: "Next.js pages router",
    serve: (receiver) => listen(createServer(nextPagesHandler(receiver))),
    serveParsed(receiver) {
      const handle = nextPagesHandler(receiver);
      return listen(
        createServer(async (request: IncomingMessage & { body?: unknown }, response: ServerResponse) => {
          let text = "";
          for await (const piece of request) text += piece;
          request.body = JSON.parse(text);
          await handle(request, response);
        }),
      );
    },
    blames: "Next.js parsed the body",
    advises: "export const config = { api: { bodyParser: false } }",
  },
  {
    name: "Hono on Node",
    serve(receiver) {
      const handle = fetchHandler(receiver);
      return listenHono(new Hono().all(PATH, (c) => handle(c.req.raw)));
    },
    serveParsed(receiver) {
      const handle = fetchHandler(receiver);
      const app = new Hono();
      app.use(async (c, next) => {
        await c.req.json();
        await next();
      });
      return listenHono(app.all(PATH, (c) => handle(c.req.raw)));
    },
    blames: "c.req.json()",
    advises: "c.req.raw.clone()",
  },
];

function expressFramework(name: string, framework: typeof express): Framework {
  return {
    name,
    serve: (receiver) => listen(createServer(framework().all(PATH, expressHandler(receiver)))),
    serveParsed: (receiver) =>
      listen(createServer(framework().use(framework.json()).all(PATH, expressHandler(receiver)))),
    blames: "express.json()",
    advises: "above app.use(express.json())",
  };
}

/** Koa prints each connection that breaks. */
function quietKoa(): Koa {
  return Object.assign(new Koa(), { silent: true });
}

/** Without the syntax of decorators, which this repository is not compiled for. */
function nestModule(receiver: RequestHandler) {
  class WebhooksController {
    readonly #handle = nestHandler(receiver);

    receive(...[request, response]: Parameters<ReturnType<typeof nestHandler>>): Promise<void> {
      return this.#handle(request, response);
    }
  }
  const { prototype } = WebhooksController;
  const method = Object.getOwnPropertyDescriptor(prototype, "receive") as PropertyDescriptor;
  All()(prototype, "receive", method);
  Req()(prototype, "receive", 0);
  Res()(prototype, "receive", 1);
  Controller("webhooks")(WebhooksController);

  class AppModule {}
  Module({ controllers: [WebhooksController] })(AppModule);
  return AppModule;
}

async function listen(server: Server): Promise<Listening> {
  const { url, close } = await serve(server);
  return { url: url + PATH, close };
}

async function listenFastify(app: ReturnType<typeof fastify>, receiver: RequestHandler): Promise<Listening> {
  await app.register(fastifyPlugin(receiver), { prefix: PATH });
  await app.ready();
  return listen(app.server);
}

async function listenNest(app: INestApplication): Promise<Listening> {
  await app.init();
  return listen(app.getHttpServer());
}

function listenHono(app: Hono): Promise<Listening> {
  return listen(createAdaptorServer(app) as Server);
}
