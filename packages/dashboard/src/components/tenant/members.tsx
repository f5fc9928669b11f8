// The members of a tenant.
import type { Member } from "@posthorn/client";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { fieldsOf, useUndoable } from "../../api/undo.ts";
import { defineTexts, type Text } from "../../app/texts.ts";
import { ListPanel } from "../list/list-page.tsx";
import { ConfirmButton, DialogButton, FormDialog } from "../ui/dialog.tsx";
import { Choice, TextField, useForm } from "../ui/field.tsx";

type Role = Member["role"];

const t = defineTexts({
  title: ["Members", "Mitglieder"],
  add: ["Add member", "Mitglied hinzufügen"],
  remove: ["Remove", "Entfernen"],
  user: ["User", "Benutzer"],
  userHint: ["The user's id in your application.", "Die ID des Benutzers in Ihrer Anwendung."],
  role: ["Role", "Rolle"],
  email: ["Email", "E-Mail"],
  emailHint: [
    "Optional. Owners and admins are notified of disabled endpoints.",
    "Optional. Owner und Admins werden über deaktivierte Endpunkte benachrichtigt.",
  ],
  roles: {
    owner: ["owner: manage endpoints, retry and replay", "owner: Endpunkte verwalten, erneut zustellen"],
    admin: ["admin: manage endpoints, retry and replay", "admin: Endpunkte verwalten, erneut zustellen"],
    member: ["member: read-only", "member: nur lesen"],
  } as Readonly<Record<Role, Text>>,
  changeTitle: ["Edit {user}", "{user} bearbeiten"],
  saved: ["{user} saved.", "{user} gespeichert."],
  removeTitle: ["Remove {user}?", "{user} entfernen?"],
  removeHint: [
    "The member's tokens and sessions end immediately.",
    "Die Token und Sitzungen des Mitglieds werden sofort ungültig.",
  ],
  nothing: ["No members yet", "Noch keine Mitglieder"],
});

export function TenantMembers({ tenant }: { readonly tenant: string }) {
  const list = useList("members.list", { tenant }, { keyOf: ({ user }) => user });
  return (
    <ListPanel
      title={t.title}
      actions={
        <DialogButton icon="plus" label={t.add}>
          <EditMember tenant={tenant} member={null} />
        </DialogButton>
      }
      list={list}
      columns={[
        { key: "user", head: t.user, share: 1, cell: ({ user }) => user },
        { key: "role", head: t.role, cell: ({ role }) => role },
        { key: "email", head: t.email, from: "sm", share: 1, cell: ({ email }) => email ?? "–" },
        {
          key: "acts",
          head: "",
          cell: (member) => (
            <span className="flex justify-end">
              <DialogButton kind="quiet" label={t.edit}>
                <EditMember tenant={tenant} member={member} />
              </DialogButton>
              <ConfirmButton
                kind="quiet"
                title={t.removeTitle({ user: member.user })}
                action={t.remove}
                hint={t.removeHint}
                onConfirm={() => api.members.delete({ tenant, user: member.user })}
              />
            </span>
          ),
        },
      ]}
      nothing={t.nothing}
    />
  );
}

function EditMember({
  tenant,
  member,
}: {
  readonly tenant: string;
  /** Null creates a new member. */
  readonly member: Member | null;
}) {
  const { user = "", role = "member", email } = member ?? {};
  const state = useForm({ user, role: role as Role, email: email ?? "" });
  const { form, field } = state;
  const undoable = useUndoable();
  const save = async () => {
    const body = { role: form.role, email: form.email.trim() === "" ? null : form.email.trim() };
    const at = { tenant, user: form.user.trim() };
    // PUT would add a member that was removed in the meantime
    if (member !== null) await api.members.get(at);
    const after = fieldsOf(await api.members.put({ ...at, body }), body);
    if (member === null) return;
    undoable(t.saved({ user: member.user }), {
      after,
      read: async () => fieldsOf(await api.members.get(at), body),
      revert: () => api.members.put({ ...at, body: { role: member.role, email: member.email } }),
    });
  };
  return (
    <FormDialog
      title={member === null ? t.add : t.changeTitle({ user: member.user })}
      action={t.save}
      form={state}
      onSubmit={save}
    >
      {member === null && <TextField label={t.user} hint={t.userHint} required {...field("user")} />}
      <Choice label={t.role} options={Object.entries(t.roles)} {...field("role")} />
      <TextField label={t.email} hint={t.emailHint} type="email" {...field("email")} />
    </FormDialog>
  );
}
