// A real SMTP server on loopback that keeps the received mails.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { onTestFinished } from "vitest";
import { Signal } from "../eventually.ts";

export type ReceivedMail = ReturnType<typeof readMail>;

/** `refused`: recipients that are rejected with 550. */
export async function startMailServer({
  refused = [],
  smtp,
}: {
  readonly refused?: readonly string[];
  readonly smtp?: SMTPServerOptions;
} = {}) {
  const mails: ReceivedMail[] = [];
  const signal = new Signal();
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    disabledCommands: ["STARTTLS"],
    onRcptTo: ({ address }, _session, answer) =>
      answer(refused.includes(address) ? new Error("no such mailbox") : null),
    onData: (stream, session, answer) => {
      void text(stream).then((raw) => {
        mails.push(readMail(raw, session));
        signal.notify();
        answer();
      });
    },
    ...smtp,
  });
  server.on("error", () => {});
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)));
  return {
    port: (server.server.address() as AddressInfo).port,
    mails: mails as readonly ReceivedMail[],
    /** Resolves as soon as there are this many. */
    received: (count: number): Promise<readonly ReceivedMail[]> =>
      signal.until(
        () => `${count} mails arrived, not only ${mails.length}`,
        () => mails.length >= count && mails,
      ),
  };
}

function readMail(raw: string, { envelope, user }: SMTPServerSession) {
  const end = raw.indexOf("\r\n\r\n");
  const head = raw.slice(0, end).replace(/\r\n[ \t]+/g, " ");
  return {
    from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
    to: envelope.rcptTo.map(({ address }) => address),
    raw,
    /** All values of this header. */
    header: (name: string): string[] =>
      head
        .split("\r\n")
        .filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}: `))
        .map((line) => line.slice(name.length + 2)),
    /** The plain text. */
    body: partOf(raw.slice(end + 4), head, "text/plain"),
    html: partOf(raw.slice(end + 4), head, "text/html"),
    user,
  };
}

function partOf(body: string, head: string, type: string): string {
  const [, boundary] = /boundary="([^"]+)"/.exec(head) ?? [];
  if (boundary === undefined) return type === "text/plain" ? decodeBody(body, head) : "";
  const part = body.split(`--${boundary}`).find((one) => one.includes(`Content-Type: ${type}`)) ?? "";
  const end = part.indexOf("\r\n\r\n");
  return decodeBody(part.slice(end + 4), part.slice(0, end));
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
