// A modal dialog. Base UI traps and restores the focus.
import { Dialog as BaseDialog } from "@base-ui/react/dialog";
import { type ReactNode, useEffect } from "react";
import { reserveDialogHeight } from "../../app/frame.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Button } from "./button.tsx";

const texts = defineTexts({
  en: { close: "Close", cancel: "Cancel" },
  de: { close: "Schließen", cancel: "Abbrechen" },
});

export function Dialog({
  title,
  isOpen,
  onClose,
  children,
  actions,
  closeLabel,
}: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons next to the close button. */
  readonly actions?: ReactNode;
  /** The label of the close button. */
  readonly closeLabel?: string | undefined;
}) {
  const t = useTexts(texts);
  useEffect(() => (isOpen ? reserveDialogHeight() : undefined), [isOpen]);
  return (
    <BaseDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-40 bg-black/50" />
        <BaseDialog.Popup className="fixed top-[calc(var(--visible-top)+var(--visible-height)*0.08)] left-1/2 z-50 flex max-h-[calc(var(--visible-height)*0.84)] w-[min(40rem,calc(100vw-2rem))] -translate-x-1/2 flex-col rounded-lg border border-line bg-surface text-ink shadow-xl">
          <BaseDialog.Title className="border-b border-line px-4 py-3 font-semibold">
            {title}
          </BaseDialog.Title>
          <div className="flex flex-col gap-3 overflow-y-auto p-4">{children}</div>
          <div className="flex justify-end gap-2 border-t border-line px-4 py-3">
            <Button onClick={onClose}>{closeLabel ?? (actions === undefined ? t.close : t.cancel)}</Button>
            {actions}
          </div>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}
