// Sends mails through the operator's mail server, with one connection per mail because they are rare.
import { isIP } from "node:net";
import type { Transporter } from "nodemailer";
import type { PosthornOptions } from "posthorn";
import { mailHtml } from "./mail-html.ts";

export type SendMail = NonNullable<PosthornOptions["sendMail"]>;

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps:`); otherwise STARTTLS where the server offers it. */
  readonly isSecure: boolean;
  readonly user: string | null;
  readonly password: string | null;
}

const CONNECT_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 20_000;

export function createSendMail(server: MailServer, from: string): SendMail {
  const options = {
    host: server.host,
    port: server.port,
    secure: server.isSecure,
    // Never sends a password without TLS, even if an attacker removes STARTTLS from the server's capabilities.
    requireTLS: !server.isSecure && server.password !== null && !isLoopback(server.host),
    tls: { rejectUnauthorized: true },
    auth: server.user === null ? undefined : { user: server.user, pass: server.password ?? "" },
    connectionTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  // A large library: most deployments send no mails, and those that do send the first one long after the start.
  let transport: Promise<Transporter> | undefined;
  return async ({ to, subject, text }) => {
    transport ??= import("nodemailer").then(({ createTransport }) => createTransport(options));
    await (await transport).sendMail({
      from,
      to: [...to],
      subject,
      text,
      html: mailHtml(subject, text),
      // RFC 3834: prevents automatic replies.
      headers: { "Auto-Submitted": "auto-generated" },
    });
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
