// Express 4 or 5.
import { expressHandler } from "@posthorn/receiver/express";
import express from "express";
import { receiver } from "./receiver.ts";

export const app = express();
app.all("/webhooks", expressHandler(receiver)); // before the body parsers
app.use(express.json());
