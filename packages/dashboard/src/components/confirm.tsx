// Asks once more before something that cannot be undone.
import type { ReactNode } from "react";
import { useSubmission } from "../api/problems.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

export function Confirm({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  /** What the button says that does it. */
  readonly action: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { isBusy, submit } = useSubmission();
  const confirm = async () => {
    if (await submit(onConfirm)) onClose();
  };
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      actions={
        <Button kind="danger" isBusy={isBusy} onClick={() => void confirm()}>
          {action}
        </Button>
      }
    >
      {children}
    </Dialog>
  );
}
