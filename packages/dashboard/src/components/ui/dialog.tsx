// Modal dialogs, with a form, and to confirm an action that cannot be undone. Base UI traps and restores the focus.
import { Dialog as BaseDialog } from "@base-ui/react/dialog";
import {
  createContext,
  isValidElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useState,
} from "react";
import { reserveDialogHeight } from "../../app/frame.ts";
import { defineTexts } from "../../app/texts.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { type FormState, ProblemList, pointerOf, submitted, TextField, useForm } from "./field.tsx";

const t = defineTexts({
  close: ["Close", "Schließen"],
  type: ["Type {name} to confirm", "Zur Bestätigung {name} eingeben"],
  typeFirst: ["Type the name to confirm.", "Zur Bestätigung den Namen eingeben."],
});

const Close = createContext(() => {});

/** Returns a function that closes the dialog of a `DialogButton`. */
export function useClose(): () => void {
  return useContext(Close);
}

export function Dialog({
  title,
  isOpen = true,
  onClose: givenClose,
  children,
  actions,
  closeLabel,
}: {
  readonly title: string;
  readonly isOpen?: boolean;
  /** Not needed in a `DialogButton`. */
  readonly onClose?: () => void;
  readonly children: ReactNode;
  /** Buttons next to the close button. */
  readonly actions?: ReactNode;
  readonly closeLabel?: string | undefined;
}) {
  const close = useClose();
  const onClose = givenClose ?? close;
  useEffect(() => (isOpen ? reserveDialogHeight() : undefined), [isOpen]);
  return (
    <BaseDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-40 bg-backdrop" />
        <BaseDialog.Popup className="fixed top-[calc(var(--visible-top)+var(--visible-height)*0.08)] left-1/2 z-50 flex max-h-[calc(var(--visible-height)*0.84)] w-[min(40rem,calc(100vw-2rem))] -translate-x-1/2 flex-col rounded-lg border border-line bg-surface text-ink shadow-lg">
          <BaseDialog.Title className="border-b border-line px-4 py-3 font-semibold">
            {title}
          </BaseDialog.Title>
          <div className="flex flex-col gap-3 overflow-y-auto p-4">{children}</div>
          <div className="flex justify-end gap-2 border-t border-line px-4 py-3">
            <Button onClick={onClose}>{closeLabel ?? (actions ? t.cancel : t.close)}</Button>
            {actions}
          </div>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

/**
 * A form in the dialog of a `DialogButton`. `onSubmit` runs in the submission. If it returns an element, that is shown in
 * place of the form, else the dialog closes.
 */
export function FormDialog<Form extends object>({
  title,
  action,
  kind = "primary",
  form: { form, isBusy, problems, submit },
  disabledReason,
  className = "flex flex-col gap-3",
  resultTitle = title,
  onSubmit,
  children,
}: {
  readonly title: string;
  readonly action: string;
  readonly kind?: "primary" | "danger";
  readonly form: FormState<Form>;
  readonly disabledReason?: string | undefined;
  readonly className?: string;
  readonly resultTitle?: string;
  readonly onSubmit: () => Promise<unknown>;
  readonly children: ReactNode;
}) {
  const id = useId();
  const close = useClose();
  const [result, setResult] = useState<ReactElement | null>(null);
  const save = async () => {
    const returned = await onSubmit();
    if (isValidElement(returned)) setResult(returned);
    else close();
  };
  if (result !== null) {
    return (
      <Dialog key="result" title={resultTitle}>
        {result}
      </Dialog>
    );
  }
  return (
    <Dialog
      title={title}
      actions={
        <Button kind={kind} type="submit" form={id} isBusy={isBusy} disabledReason={disabledReason}>
          {action}
        </Button>
      }
    >
      <ProblemList problems={problems.elsewhere(Object.keys(form).map(pointerOf))} />
      <form id={id} onSubmit={submitted(() => submit(save))} className={className}>
        {children}
      </form>
    </Dialog>
  );
}

export function DialogButton({
  label,
  children,
  ...button
}: Omit<ButtonProps, "children" | "onClick"> & {
  readonly label: string;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...button} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && <Close value={() => setOpen(false)}>{children}</Close>}
    </>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly action: string;
  /** The consequences. */
  readonly hint: string;
  /** The name that must be typed. */
  readonly typed?: string;
  readonly onConfirm: () => Promise<unknown>;
}

/** A button for an action that cannot be undone, which asks for confirmation. */
export function ConfirmButton({
  title,
  action,
  hint,
  typed,
  onConfirm,
  ...button
}: ConfirmProps & Pick<ButtonProps, "kind" | "icon" | "className" | "disabledReason">) {
  return (
    <DialogButton label={action} {...button}>
      <Confirm {...{ title, action, hint, typed, onConfirm }} />
    </DialogButton>
  );
}

function Confirm({
  typed: name,
  hint,
  onConfirm,
  ...dialog
}: Omit<ConfirmProps, "typed"> & { readonly typed: string | undefined }) {
  const form = useForm({ typed: "" });
  return (
    <FormDialog
      {...dialog}
      kind="danger"
      form={form}
      disabledReason={name === undefined || form.form.typed.trim() === name ? undefined : t.typeFirst}
      onSubmit={onConfirm}
    >
      <p>{hint}</p>
      {name !== undefined && (
        <TextField label={t.type({ name })} autoComplete="off" spellCheck={false} {...form.field("typed")} />
      )}
    </FormDialog>
  );
}
