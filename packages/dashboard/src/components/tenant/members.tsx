// The members of a tenant.
import type { Member } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useSubmission } from "../../api/problems.ts";
import { fieldsOf, useUndoable } from "../../api/undo.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import type { Column } from "../list/data-table.tsx";
import { ListView } from "../list/list.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Choice, TextField } from "../ui/field.tsx";
import { Panel } from "../ui/panel.tsx";
import { ProblemList } from "../ui/problem-list.tsx";
import { NothingYet } from "../ui/states.tsx";

type Role = Member["role"];
const ROLES = ["owner", "admin", "member"] as const satisfies readonly Role[];

const texts = defineTexts({
  en: {
    title: "Members",
    add: "Add member",
    change: "Edit",
    remove: "Remove",
    save: "Save",
    user: "User",
    userHint: "The user's id in your application.",
    role: "Role",
    email: "Email",
    emailHint: "Optional. Owners and admins are notified of disabled endpoints.",
    roles: {
      owner: "owner: manage endpoints, retry and replay",
      admin: "admin: manage endpoints, retry and replay",
      member: "member: read-only",
    } as Record<Role, string>,
    changeTitle: (user: string) => `Edit ${user}`,
    saved: (user: string) => `${user} saved.`,
    removeTitle: (user: string) => `Remove ${user}?`,
    removeHint: "The member's tokens and sessions end immediately.",
    nothing: "No members yet",
  },
  de: {
    title: "Mitglieder",
    add: "Mitglied hinzufügen",
    change: "Bearbeiten",
    remove: "Entfernen",
    save: "Speichern",
    user: "Benutzer",
    userHint: "Die ID des Benutzers in Ihrer Anwendung.",
    role: "Rolle",
    email: "E-Mail",
    emailHint: "Optional. Owner und Admins werden über deaktivierte Endpunkte benachrichtigt.",
    roles: {
      owner: "owner: Endpunkte verwalten, erneut zustellen",
      admin: "admin: Endpunkte verwalten, erneut zustellen",
      member: "member: nur lesen",
    } as Record<Role, string>,
    changeTitle: (user: string) => `${user} bearbeiten`,
    saved: (user: string) => `${user} gespeichert.`,
    removeTitle: (user: string) => `${user} entfernen?`,
    removeHint: "Die Token und Sitzungen des Mitglieds enden sofort.",
    nothing: "Noch keine Mitglieder",
  },
});

export function TenantMembers({ tenant }: { readonly tenant: string }) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const [editing, setEditing] = useState<Member | "new" | null>(null);
  const [removing, setRemoving] = useState<Member | null>(null);
  const list = useList(["members", tenant], (page, signal) =>
    api.members.list({ tenant, query: page, signal }),
  );
  const reload = () => queries.invalidateQueries({ queryKey: ["members", tenant] });
  const remove = async (member: Member) => {
    await api.members.delete({ tenant, user: member.user });
    await reload();
  };
  const columns: readonly Column<Member>[] = [
    { key: "user", head: t.user, cell: ({ user }) => user },
    { key: "role", head: t.role, cell: ({ role }) => role },
    { key: "email", head: t.email, from: "sm", cell: ({ email }) => email ?? "–" },
    {
      key: "acts",
      head: "",
      cell: (member) => (
        <span className="flex justify-end">
          <Button kind="quiet" onClick={() => setEditing(member)}>
            {t.change}
          </Button>
          <Button kind="quiet" onClick={() => setRemoving(member)}>
            {t.remove}
          </Button>
        </span>
      ),
    },
  ];
  return (
    <Panel
      title={t.title}
      isFlush
      actions={
        <Button icon="plus" onClick={() => setEditing("new")}>
          {t.add}
        </Button>
      }
    >
      <ListView
        label={t.title}
        list={list}
        columns={columns}
        keyOf={({ user }) => user}
        nothingYet={<NothingYet title={t.nothing} />}
      />
      {editing !== null && (
        <EditMember
          tenant={tenant}
          member={editing === "new" ? null : editing}
          onClose={() => setEditing(null)}
          onSaved={reload}
        />
      )}
      {removing !== null && (
        <Confirm
          title={t.removeTitle(removing.user)}
          action={t.remove}
          onConfirm={() => remove(removing)}
          onClose={() => setRemoving(null)}
        >
          <p>{t.removeHint}</p>
        </Confirm>
      )}
    </Panel>
  );
}

function EditMember({
  tenant,
  member,
  onClose,
  onSaved,
}: {
  readonly tenant: string;
  /** Null creates a new member. */
  readonly member: Member | null;
  readonly onClose: () => void;
  readonly onSaved: () => Promise<void>;
}) {
  const t = useTexts(texts);
  const [user, setUser] = useState(member?.user ?? "");
  const [role, setRole] = useState<Role>(member?.role ?? "member");
  const [email, setEmail] = useState(member?.email ?? "");
  const { isBusy, problems, submit } = useSubmission();
  const undoable = useUndoable();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const body = { role, email: email.trim() === "" ? null : email.trim() };
    const at = { tenant, user: user.trim() };
    const isDone = await submit(async () => {
      // PUT would add a member that was removed in the meantime
      if (member !== null) await api.members.get(at);
      const after = fieldsOf(await api.members.put({ ...at, body }), body);
      if (member === null) return;
      undoable(t.saved(member.user), {
        after,
        read: async () => fieldsOf(await api.members.get(at), body),
        revert: () => api.members.put({ ...at, body: { role: member.role, email: member.email } }),
      });
    });
    if (!isDone) return;
    onClose();
    await onSaved();
  };
  return (
    <Dialog
      title={member === null ? t.add : t.changeTitle(member.user)}
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" type="submit" form="edit-member" isBusy={isBusy}>
          {t.save}
        </Button>
      }
    >
      <form id="edit-member" onSubmit={(event) => void save(event)} className="flex flex-col gap-3">
        <ProblemList problems={problems.elsewhere(["/user", "/role", "/email"])} />
        {member === null && (
          <TextField
            label={t.user}
            hint={t.userHint}
            required
            value={user}
            problem={problems.at("/user")}
            onChange={(event) => setUser(event.target.value)}
          />
        )}
        <Choice
          label={t.role}
          value={role}
          problem={problems.at("/role")}
          onChange={(event) => setRole(event.target.value as Role)}
        >
          {ROLES.map((name) => (
            <option key={name} value={name}>
              {t.roles[name]}
            </option>
          ))}
        </Choice>
        <TextField
          label={t.email}
          hint={t.emailHint}
          type="email"
          value={email}
          problem={problems.at("/email")}
          onChange={(event) => setEmail(event.target.value)}
        />
      </form>
    </Dialog>
  );
}
