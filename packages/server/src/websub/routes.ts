// The HTTP routes of the WebSub hub: form bodies in, and plain text instead of problem documents out, as the W3C recommendation says.
import { isUtf8 } from "node:buffer";
import type { Posthorn } from "posthorn";
import { hasTag } from "../api/entity-tag.ts";
import type { Exchange } from "../api/exchange.ts";
import { HttpError } from "../api/http-error.ts";
import { readBytesOf } from "../api/middleware/read-body.ts";
import type { Reply } from "../api/reply.ts";
import { publicRoute, type Route } from "../api/router.ts";

/** "The hub SHOULD include a description of an error in the response body as plain text" (REC 5.1). */
export function isHubPath(url: string | undefined): boolean {
  return url !== undefined && /^\/websub(?:[/?]|$)/.test(url);
}

export function webSubRoutes({ websub }: Pick<Posthorn, "websub">): Route[] {
  return [
    { ...publicRoute("POST", "/websub", receiveForm), isRefusedWhileDraining: true },
    publicRoute("GET", "/websub", async () => {
      const hubUrl = await websub.hubUrl();
      return text(
        200,
        `This is the WebSub hub ${hubUrl}. Post hub.mode, hub.topic and hub.callback as a form.`,
      );
    }),
    {
      method: "POST",
      path: "/websub/content",
      permission: { scopes: ["events:publish"], reach: "installation" },
      isRefusedWhileDraining: true,
      handle: receiveContent,
    },
    publicRoute("GET", "/websub/topics/{tenant}/{type}", getTopic),
  ];

  async function receiveForm(exchange: Exchange): Promise<Reply> {
    const result = await websub.handle(await readForm(exchange));
    // php-publisher accepts only 204 as success
    return result === "published" ? { status: 204 } : text(202, "Accepted. The callback is being verified.");
  }

  async function receiveContent(exchange: Exchange): Promise<Reply> {
    const topic = new URLSearchParams(exchange.query).get("topic") ?? "";
    const contentType = exchange.request.headers["content-type"] ?? "application/octet-stream";
    const body = await readBytesOf(exchange, MAX_CONTENT_BYTES);
    await websub.push(topic, { contentType, body });
    return { status: 204 };
  }

  async function getTopic({ request, params, query }: Exchange): Promise<Reply> {
    const shape = new URLSearchParams(query).get("format") ?? "envelope";
    if (shape !== "envelope" && shape !== "atom") {
      throw new HttpError("invalid_parameter", "The format of a topic is envelope or atom.");
    }
    const { link, content } = await websub.topic(params.tenant ?? "", params.type ?? "", shape);
    if (content === null) return { status: 204, headers: ["Link", link] };
    const etag = `"${content.tag}"`;
    const headers = ["Link", link, "ETag", etag];
    if (hasTag(request, etag)) return { status: 304, headers };
    const { buffer, byteOffset, byteLength } = await content.body();
    // shares the bytes, because many requests may send the same feed
    const body = Buffer.from(buffer, byteOffset, byteLength);
    return { status: 200, contentType: content.contentType, cacheControl: "no-cache", headers, body };
  }
}

/** Upper bound of the topic size setting. */
const MAX_CONTENT_BYTES = 4 * 1024 * 1024;

function text(status: number, sentence: string): Reply {
  return { status, contentType: "text/plain; charset=utf-8", body: `${sentence}\n` };
}

/** Enough for a hundred topics with long URLs. */
const MAX_FORM_BYTES = 64 * 1024;

const FORM_TYPE = /^application\/x-www-form-urlencoded *(?:;.*)?$/i;

async function readForm(exchange: Exchange): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(exchange.request.headers["content-type"] ?? "")) {
    throw new HttpError(
      "unsupported_media_type",
      "Send a form with Content-Type: application/x-www-form-urlencoded.",
    );
  }
  const body = await readBytesOf(exchange, MAX_FORM_BYTES);
  if (!isUtf8(body)) throw new HttpError("invalid_utf8", "The body is not valid UTF-8.");
  return new URLSearchParams(body.toString());
}
