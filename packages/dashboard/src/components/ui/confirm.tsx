// Confirms an action that cannot be undone; dangerous ones require typing a name.
import { type ReactNode, useState } from "react";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";

const texts = defineTexts({
  en: { type: (name: string) => `Type ${name} to confirm`, typeFirst: "Type the name to confirm." },
  de: {
    type: (name: string) => `Zur Bestätigung ${name} eingeben`,
    typeFirst: "Zur Bestätigung den Namen eingeben.",
  },
});

export function Confirm({
  title,
  action,
  typed: name,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  /** The label of the confirm button. */
  readonly action: string;
  /** The name that must be typed. */
  readonly typed?: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const t = useTexts(texts);
  const [typed, setTyped] = useState("");
  const { isBusy, submit } = useSubmission();
  const isTyped = name === undefined || typed.trim() === name;
  const confirm = async () => {
    if (isTyped && (await submit(onConfirm))) onClose();
  };
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      actions={
        <Button
          kind="danger"
          isBusy={isBusy}
          disabledReason={isTyped ? undefined : t.typeFirst}
          onClick={() => void confirm()}
        >
          {action}
        </Button>
      }
    >
      {children}
      {name !== undefined && (
        <TextField
          label={t.type(name)}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => event.key === "Enter" && void confirm()}
        />
      )}
    </Dialog>
  );
}
