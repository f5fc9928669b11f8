// The hub over HTTP, as the recommendation has it: forms in, and answers in plain text, not as problem documents.
import type { Logger, Posthorn } from "posthorn";
import type { Exchange } from "../api/exchange.ts";
import { HttpError } from "../api/http-error.ts";
import { readBytes } from "../api/middleware/read-body.ts";
import { problemOf } from "../api/problem.ts";
import type { Reply } from "../api/reply.ts";
import type { Route } from "../api/router.ts";
import { readForm } from "./read-form.ts";

export function webSubRoutes({ websub }: Pick<Posthorn, "websub">, logger: Logger | undefined): Route[] {
  return [
    {
      method: "POST",
      path: "/websub",
      permission: "public",
      takesWork: true,
      handle: inPlainText(async ({ request }) => {
        const result = await websub.take(await readForm(request));
        // php-publisher takes nothing but 204 for a success
        return result === "published"
          ? { status: 204 }
          : text(202, "Taken. The callback is asked whether it wants this.");
      }),
    },
    {
      method: "GET",
      path: "/websub",
      permission: "public",
      handle: inPlainText(async () => {
        const hubUrl = await websub.hubUrl();
        return text(
          200,
          `This is the WebSub hub ${hubUrl}. Post hub.mode, hub.topic and hub.callback as a form.`,
        );
      }),
    },
    {
      method: "POST",
      path: "/websub/content",
      permission: { scopes: ["events:publish"], reach: "installation" },
      takesWork: true,
      handle: inPlainText(takeContent),
    },
    {
      method: "GET",
      path: "/websub/topics/{tenant}/{type}",
      permission: "public",
      handle: inPlainText(showTopic),
    },
  ];

  async function takeContent({ request, query }: Exchange): Promise<Reply> {
    const topic = new URLSearchParams(query).get("topic") ?? "";
    const contentType = request.headers["content-type"] ?? "application/octet-stream";
    if ((request.headers["content-encoding"] ?? "identity") !== "identity") {
      throw new HttpError("unsupported_media_type", "Send the content without Content-Encoding.");
    }
    const body = await readBytes(request, MAX_CONTENT_BYTES);
    await websub.push(topic, { contentType, body });
    return { status: 204 };
  }

  async function showTopic({ request, params, query }: Exchange): Promise<Reply> {
    const shape = new URLSearchParams(query).get("format") ?? "envelope";
    if (shape !== "envelope" && shape !== "atom") {
      throw new HttpError("invalid_parameter", "A topic is shown as it is, or with ?format=atom as a feed.");
    }
    const { link, content } = await websub.topic(params.tenant ?? "", params.type ?? "", shape);
    if (content === null) return { status: 204, headers: ["Link", link] };
    const { eventId, contentType, body } = content;
    const etag = `"${eventId ?? "none"}"`;
    const headers = ["Link", link, "ETag", etag];
    if (request.headers["if-none-match"] === etag) return { status: 304, headers };
    return { status: 200, contentType, cacheControl: "no-cache", headers, body: Buffer.from(body) };
  }

  /** "The hub SHOULD include a description of an error in the response body as plain text" (REC 5.1). */
  function inPlainText(handle: Route["handle"]): Route["handle"] {
    return async (exchange) => {
      try {
        return await handle(exchange);
      } catch (error) {
        const { status, detail, headers } = problemOf(error);
        if (status === 500) logger?.error("request failed", { requestId: exchange.requestId, error });
        return { ...text(status, detail), headers: Object.entries(headers).flat() };
      }
    };
  }
}

/** The most that a topic can be allowed to hold. */
const MAX_CONTENT_BYTES = 4 * 1024 * 1024;

function text(status: number, sentence: string): Reply {
  return { status, contentType: "text/plain; charset=utf-8", body: `${sentence}\n` };
}
