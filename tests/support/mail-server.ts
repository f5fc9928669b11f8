// A real SMTP server on loopback that keeps what it is sent. It can be told to refuse addresses, or never to answer.
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { onTestFinished } from "vitest";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Head and body as they came, with lines that were folded put together. */
  readonly raw: string;
  /** Of one header; all of them when it is there several times. */
  header(name: string): string[];
  readonly body: string;
  readonly user: string | undefined;
}

export interface MailServer {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Resolves as soon as there are this many; rejects when they do not come in time. */
  received(count: number): Promise<readonly ReceivedMail[]>;
  close(): Promise<void>;
}

export interface MailServerOptions {
  readonly port?: number;
  /** Recipients that are refused with a 550. */
  readonly refused?: readonly string[];
  /** Takes connections and says nothing. */
  readonly hangs?: boolean;
  readonly smtp?: SMTPServerOptions;
}

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { refused = [], hangs = false, smtp } = options;
  const mails: ReceivedMail[] = [];
  const waiters = new Set<() => void>();
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    disabledCommands: ["STARTTLS"],
    onConnect: (_session, answer) => {
      if (!hangs) answer();
    },
    onRcptTo: ({ address }, _session, answer) =>
      answer(refused.includes(address) ? new Error("no such mailbox") : null),
    onData: (stream, { envelope, user }, answer) => {
      void text(stream).then((raw) => {
        mails.push(toMail(raw, envelope, user));
        for (const wake of waiters) wake();
        answer();
      });
    },
    ...smtp,
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const close = () => new Promise<void>((resolve) => server.close(resolve));
  onTestFinished(close);
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    received: (count) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`${mails.length} of ${count} mails came in time`)),
          10_000,
        );
        const look = () => {
          if (mails.length < count) return;
          clearTimeout(timer);
          waiters.delete(look);
          resolve(mails);
        };
        waiters.add(look);
        look();
      }),
    close,
  };
}

function toMail(
  raw: string,
  envelope: { mailFrom: { address: string } | false; rcptTo: { address: string }[] },
  user: string | undefined,
): ReceivedMail {
  const end = raw.indexOf("\r\n\r\n");
  const head = raw.slice(0, end).replace(/\r\n[ \t]+/g, " ");
  const lines = head.split("\r\n");
  return {
    from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
    to: envelope.rcptTo.map(({ address }) => address),
    raw,
    header: (name) =>
      lines
        .filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}: `))
        .map((line) => line.slice(name.length + 2)),
    body: decodeBody(raw.slice(end + 4), head),
    user,
  };
}

function decodeBody(body: string, head: string): string {
  const [, encoding] = /^content-transfer-encoding: (\S+)$/im.exec(head) ?? [];
  if (encoding === "base64") return Buffer.from(body, "base64").toString("utf8");
  if (encoding !== "quoted-printable") return body;
  return Buffer.from(
    body
      .replace(/=\r\n/g, "")
      .replace(/=([0-9A-F]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString("utf8");
}
