// Modal dialogs, with a form, and to confirm an action that cannot be undone.
import {
  createContext,
  isValidElement,
  lazy,
  type ReactElement,
  type ReactNode,
  Suspense,
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

const Modal = lazy(async () => ({ default: (await import("./modal.tsx")).Modal }));
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
  if (!isOpen) return null;
  const buttons = (
    <>
      <Button onClick={onClose}>{closeLabel ?? (actions ? t.cancel : t.close)}</Button>
      {actions}
    </>
  );
  return (
    <Suspense>
      <Modal title={title} onClose={onClose} buttons={buttons}>
        {children}
      </Modal>
    </Suspense>
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
