// Posts a line to the operators' chat, through a Slack incoming webhook or a compatible one (`{"text": "…"}`).
import type { AttemptOutcome, PreparedRequest } from "../model.ts";
import { dashboardLink, type Links } from "./links.ts";
import type { Channel } from "./notifier.ts";
import { alertText } from "./wording.ts";

export interface AlertOptions {
  /** A credential. Never logged. */
  readonly url: string;
  readonly userAgent: string;
  readonly links: Links;
  /** The guarded dispatcher, like for every request. */
  readonly send: (request: PreparedRequest, signal: AbortSignal) => Promise<AttemptOutcome>;
}

const timeoutMs = 10_000;

export function createAlertChannel({ url, userAgent, links, send }: AlertOptions): Channel {
  const headers = { "content-type": "application/json", "user-agent": userAgent };
  return {
    name: "alert",
    async send(notice, _notified, signal) {
      const text = alertText(notice, dashboardLink(notice, links));
      const body = Buffer.from(JSON.stringify({ text }));
      const problem = problemOf(await send({ tenant: null, url, headers, body, timeoutMs }, signal));
      return { notified: [], problems: problem === null ? [] : [problem] };
    },
  };
}

function problemOf(outcome: AttemptOutcome): string | null {
  if (outcome.kind === "failed") return `${outcome.error}: ${outcome.detail}`;
  const isTaken = outcome.statusCode >= 200 && outcome.statusCode < 300;
  return isTaken ? null : `returned ${outcome.statusCode}`;
}
