// Sends a separate mail to each current owner and admin of the tenant: a rejected address affects no other, and
// recipients do not see each other's addresses.
import { setTimeout } from "node:timers/promises";
import type { Logger } from "../observe/log.ts";
import type { Queryable } from "../storage/database.ts";
import { addressesToNotify } from "../storage/queries/members.ts";
import { type Links, linkFor } from "./links.ts";
import type { Channel } from "./notifier.ts";
import { type Mail, mailText } from "./wording.ts";

export interface MailMessage extends Mail {
  readonly to: readonly string[];
}

export type SendMail = (message: MailMessage) => Promise<void>;

export interface MailOptions {
  readonly db: Queryable;
  readonly logger: Logger;
  readonly sendMail: SendMail;
  readonly links: Links;
  /** Timeout of one mail. Default 30 s. */
  readonly timeoutMs?: number;
}

/** Per notification, because mail servers limit connections. */
const mailsAtOnce = 2;
const MOST_MAILS = 50;

export function createMailChannel({ db, logger, sendMail, links, timeoutMs = 30_000 }: MailOptions): Channel {
  return {
    name: "mail",
    async send(notice, notified, signal) {
      const addresses = await addressesToNotify(db, notice.tenant, notified, MOST_MAILS);
      if (addresses.length + notified.length === 0)
        logger.warn("no recipients: the tenant has no owner or admin with an e-mail address", {
          tenant: notice.tenant,
          endpointId: notice.endpointId,
        });
      const mail = mailText(notice, linkFor(notice, links));
      const reached: string[] = [];
      const problems: string[] = [];
      const waiting = addresses.values();
      const sendNext = async (): Promise<void> => {
        for (const address of waiting) {
          const problem = await problemOf(() => sendMail({ to: [address], ...mail }), timeoutMs, signal);
          if (problem === null) reached.push(address);
          else problems.push(problem);
        }
      };
      await Promise.all(Array.from({ length: mailsAtOnce }, sendNext));
      return { notified: reached, problems };
    },
  };
}

/** Runs the application's function with a timeout. Returns its error as text. */
async function problemOf(
  work: () => Promise<void>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | null> {
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  const timeout = setTimeout(timeoutMs, `timed out after ${timeoutMs} ms`, { signal: until });
  try {
    if (signal.aborted) return await timeout;
    return await Promise.race([Promise.resolve(work()).then(() => null), timeout]);
  } catch (error) {
    if (signal.aborted) return "this process is stopping";
    return error instanceof Error ? error.message : String(error);
  } finally {
    done.abort();
    timeout.catch(() => {});
  }
}
