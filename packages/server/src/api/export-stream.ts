// Streams an export: a page is read when the client has taken the previous one, so memory does not grow with the number of
// rows. If an error occurs midway, the connection is closed without the last chunk: the client reports a broken transfer
// instead of keeping a truncated file.
import type { ServerResponse } from "node:http";
import type { ExportFormat } from "@posthorn/client";
import type { Logger } from "posthorn";
import type { z } from "zod";
import { rowWriter } from "./export-text.ts";
import { type FromLibrary, present } from "./present.ts";
import type { Reply } from "./reply.ts";

export type Pages<Row> = AsyncIterator<readonly Row[]>;

export interface ExportOptions {
  readonly format: ExportFormat;
  /** The name of the file without its extension. */
  readonly name: string;
  readonly logger: Logger | undefined;
  readonly requestId: string;
  /** Throws if the caller is no longer authorized; called before each further page. */
  readonly reauthorize: () => Promise<void>;
}

/** Resolves when the first page was read, so that a rejected filter is an error response. */
export async function exportReply<Row extends z.ZodObject>(
  schema: Row,
  pages: Pages<FromLibrary<z.output<Row>>>,
  { format, name, logger, requestId, reauthorize }: ExportOptions,
): Promise<Reply> {
  const { contentType, head, line } = rowWriter(format, schema);
  const first = await pages.next();
  return {
    status: 200,
    contentType,
    headers: ["Content-Disposition", `attachment; filename="${name}.${format}"`, "X-Accel-Buffering", "no"],
    stream: (response, timeoutMs) => void send(response, timeoutMs),
  };

  async function send(response: ServerResponse, timeoutMs: number): Promise<void> {
    try {
      await write(response, head, timeoutMs);
      for (let page = first; page.done !== true && !response.destroyed; page = await pages.next()) {
        const text = page.value.map((row) => line(present(schema, row))).join("");
        await write(response, text, timeoutMs);
        await reauthorize();
      }
      response.end();
    } catch (error) {
      logger?.warn("export was cut off", { requestId, error });
      // after what was written, so that the client sees how far it got
      if (response.socket === null) response.destroy();
      else response.socket.destroySoon();
    }
  }
}

/** Resolves when the client has taken the text. Disconnects a client that stops reading. */
async function write(response: ServerResponse, text: string, timeoutMs: number): Promise<void> {
  if (text === "" || response.destroyed || response.write(text)) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => response.destroy(), timeoutMs).unref();
    const end = () => {
      clearTimeout(timer);
      response.off("drain", end).off("close", end);
      resolve();
    };
    response.on("drain", end).on("close", end);
  });
}
