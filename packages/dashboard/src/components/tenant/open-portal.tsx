// A one-time link that opens the portal as this customer sees it.
import type { Member, PortalLink } from "@posthorn/client";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy.tsx";
import { Countdown } from "../ui/countdown.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Choice } from "../ui/field.tsx";
import { say } from "../ui/toasts.tsx";

type Role = Member["role"];
const ROLES = ["admin", "member"] as const satisfies readonly Role[];

const texts = defineTexts({
  en: {
    open: "Open the portal as this customer",
    title: "Open the portal as this customer",
    hint: "A link is made that opens the portal once. Whoever has it can use it: open it in a private window, or send it to the customer.",
    role: "What may be done there",
    roles: {
      admin: "all that a customer may: manage endpoints, send again",
      member: "look, and change nothing",
    } as Record<string, string>,
    make: "Make the link",
    ready: "The link",
    left: "It can be used once, for another",
    revoke: "Revoke it",
    revoked: "The link opens nothing any more.",
  },
  de: {
    open: "Portal als dieser Kunde öffnen",
    title: "Portal als dieser Kunde öffnen",
    hint: "Es entsteht ein Link, der das Portal einmal öffnet. Wer ihn hat, kann ihn benutzen: öffnen Sie ihn in einem privaten Fenster, oder schicken Sie ihn dem Kunden.",
    role: "Was dort erlaubt ist",
    roles: {
      admin: "alles, was ein Kunde darf: Endpunkte verwalten, neu senden",
      member: "ansehen, und nichts ändern",
    } as Record<string, string>,
    make: "Link erzeugen",
    ready: "Der Link",
    left: "Er lässt sich einmal benutzen, noch",
    revoke: "Widerrufen",
    revoked: "Der Link öffnet nichts mehr.",
  },
});

export function OpenPortal({ tenant }: { readonly tenant: string }) {
  const t = useTexts(texts);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon="endpoint" onClick={() => setOpen(true)}>
        {t.open}
      </Button>
      {isOpen && <MakeLink tenant={tenant} onClose={() => setOpen(false)} />}
    </>
  );
}

function MakeLink({ tenant, onClose }: { readonly tenant: string; readonly onClose: () => void }) {
  const t = useTexts(texts);
  const [role, setRole] = useState<Role>("admin");
  const [link, setLink] = useState<PortalLink | null>(null);
  const { isBusy, submit } = useSubmission();
  const make = () => submit(async () => setLink(await api.portalLinks.create({ tenant, body: { role } })));
  const revoke = async (id: string) => {
    if (!(await submit(() => api.portalLinks.revoke({ tenant, link: id })))) return;
    say(t.revoked);
    onClose();
  };
  if (link !== null) {
    return (
      <Dialog title={t.ready} isOpen onClose={onClose}>
        <CopyLine text={link.url} />
        <p className="flex flex-wrap items-center justify-between gap-2 text-muted">
          <span>
            {t.left} <Countdown until={link.expires_at} />
          </span>
          <Button kind="quiet" isBusy={isBusy} onClick={() => void revoke(link.id)}>
            {t.revoke}
          </Button>
        </p>
      </Dialog>
    );
  }
  return (
    <Dialog
      title={t.title}
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" isBusy={isBusy} onClick={() => void make()}>
          {t.make}
        </Button>
      }
    >
      <p>{t.hint}</p>
      <Choice label={t.role} value={role} onChange={(event) => setRole(event.target.value as Role)}>
        {ROLES.map((name) => (
          <option key={name} value={name}>
            {t.roles[name]}
          </option>
        ))}
      </Choice>
    </Dialog>
  );
}
