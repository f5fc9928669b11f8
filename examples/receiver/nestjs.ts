// NestJS on Express: main.ts
import { NestFactory } from "@nestjs/core";
import { nestHandler } from "@posthorn/receiver/nestjs";
import { receiver } from "./receiver.ts";

export class AppModule {} // your module

export const app = await NestFactory.create(AppModule);
app.use("/webhooks", nestHandler(receiver)); // runs before Nest's parsers
