// Against a real SMTP server on loopback.
import { expect, test } from "vitest";
import { startMailServer } from "../../../tests/support/servers/mail-server.ts";
import { createSendMail, type MailServer } from "./mail.ts";

const mail = { to: ["anna@example.com"], subject: "Grüße\r\nBcc: mallory@example.com", text: ".\nÄ\n" };

function reach(port: number, change: Partial<MailServer> = {}): MailServer {
  return { host: "127.0.0.1", port, isSecure: false, user: null, password: null, ...change };
}

test("a mail has sender, subject and text, and a line break in the subject cannot add a header", async () => {
  const server = await startMailServer();
  await createSendMail(reach(server.port), '"Web Hooks" <posthorn@example.com>')(mail);
  const [received] = await server.received(1);
  expect(received).toMatchObject({ from: "posthorn@example.com", to: ["anna@example.com"] });
  expect(received?.header("from")).toEqual(["Web Hooks <posthorn@example.com>"]);
  expect(received?.header("bcc")).toEqual([]);
  expect(received?.body).toContain(".\nÄ\n");
  expect(received?.html).toContain(". Ä</p>");
});

test("user and password are sent to a local server", async () => {
  const server = await startMailServer({
    smtp: {
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, answer) =>
        answer(password === "p:/" ? null : new Error("no"), { user: username }),
    },
  });
  const send = (password: string) =>
    createSendMail(reach(server.port, { user: "hooks", password }), "posthorn@example.com")(mail);
  await send("p:/");
  expect(server.mails).toMatchObject([{ user: "hooks" }]);
  await expect(send("hunter2")).rejects.toThrow(/^(?!.*hunter2).*Invalid login/);
});

test("a password is not sent to a remote server without TLS", async () => {
  let asked = 0;
  const server = await startMailServer({
    smtp: {
      allowInsecureAuth: true,
      onAuth: (_auth, _session, answer) => {
        asked += 1;
        answer(null, { user: "hooks" });
      },
    },
  });
  // the loopback address in a spelling that does not count as this machine
  const elsewhere = reach(server.port, { host: "::ffff:127.0.0.1", user: "hooks", password: "p" });
  await expect(createSendMail(elsewhere, "posthorn@example.com")(mail)).rejects.toThrow(/STARTTLS/);
  expect([asked, server.mails.length]).toEqual([0, 0]);
});

test.each([
  ["from the first byte", { secure: true }, { isSecure: true }],
  ["by STARTTLS", { disabledCommands: [] }, {}],
])("a self-signed certificate is rejected %s", async (_when, smtp, change) => {
  const server = await startMailServer({ smtp });
  await expect(createSendMail(reach(server.port, change), "posthorn@example.com")(mail)).rejects.toThrow(
    /certificate/,
  );
  expect(server.mails).toHaveLength(0);
});
