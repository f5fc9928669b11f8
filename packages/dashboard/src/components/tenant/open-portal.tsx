// Creates a one-time link to the tenant's portal.
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
import { showToast } from "../ui/toasts.tsx";

type Role = Member["role"];
const ROLES = ["admin", "member"] as const satisfies readonly Role[];

const texts = defineTexts({
  en: {
    open: "Open portal",
    title: "Open the portal as this tenant",
    hint: "Creates a link that opens the portal once. Anyone with the link can use it: open it in a private window or send it to the customer.",
    role: "Permissions",
    roles: {
      admin: "manage endpoints, retry and replay",
      member: "read-only",
    } as Record<string, string>,
    make: "Create link",
    ready: "Portal link",
    left: "Valid once, expires in",
    revoke: "Revoke",
    revoked: "Link revoked.",
  },
  de: {
    open: "Portal öffnen",
    title: "Portal als dieser Mandant öffnen",
    hint: "Erstellt einen Link, der das Portal einmal öffnet. Jeder, der den Link hat, kann ihn verwenden: Öffnen Sie ihn in einem privaten Fenster oder senden Sie ihn dem Kunden.",
    role: "Berechtigungen",
    roles: {
      admin: "Endpunkte verwalten, erneut zustellen",
      member: "nur lesen",
    } as Record<string, string>,
    make: "Link erstellen",
    ready: "Portal-Link",
    left: "Einmal gültig, läuft ab in",
    revoke: "Widerrufen",
    revoked: "Link widerrufen.",
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
    showToast(t.revoked);
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
