// Sends the library's mails through the operator's own mail server, with a connection for each: they are few, and one
// that is kept open would have to be closed.
import { isIP } from "node:net";
import { createTransport } from "nodemailer";
import type { PosthornOptions } from "posthorn";

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
  const transport = createTransport({
    host: server.host,
    port: server.port,
    secure: server.isSecure,
    // A password never crosses a network in the clear, whatever somebody in between takes out of the server's answers.
    requireTLS: !server.isSecure && server.password !== null && !isLoopback(server.host),
    tls: { rejectUnauthorized: true },
    auth: server.user === null ? undefined : { user: server.user, pass: server.password ?? "" },
    connectionTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return async ({ to, subject, text }) => {
    await transport.sendMail({
      from,
      to: [...to],
      subject,
      text,
      // RFC 3834: nobody's out-of-office answers a machine.
      headers: { "Auto-Submitted": "auto-generated" },
    });
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
