// The modal window of a dialog. Base UI traps and restores the focus; it is large, so it is loaded with the first dialog.
import { Dialog as BaseDialog } from "@base-ui/react/dialog";
import type { ReactNode } from "react";

export function Modal({
  title,
  onClose,
  buttons,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly buttons: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <BaseDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-40 bg-backdrop" />
        <BaseDialog.Popup className="fixed top-[calc(var(--visible-top)+var(--visible-height)*0.08)] left-1/2 z-50 flex max-h-[calc(var(--visible-height)*0.84)] w-[min(40rem,calc(100vw-2rem))] -translate-x-1/2 flex-col rounded-lg border border-line bg-surface text-ink shadow-lg">
          <BaseDialog.Title className="border-b border-line px-4 py-3 text-md font-semibold">
            {title}
          </BaseDialog.Title>
          <div className="flex flex-col gap-3 overflow-y-auto p-4">{children}</div>
          <div className="flex justify-end gap-2 border-t border-line px-4 py-3">{buttons}</div>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}
