// A button that runs an action. It is busy until the action ends; errors are shown as a toast.
import { useSubmission } from "../../api/problems.ts";
import { Button, type ButtonProps } from "./button.tsx";

export function ActionButton({
  action,
  ...button
}: Omit<ButtonProps, "onClick" | "isBusy"> & { readonly action: () => Promise<unknown> }) {
  const { isBusy, submit } = useSubmission();
  return <Button {...button} isBusy={isBusy} onClick={() => void submit(action)} />;
}
