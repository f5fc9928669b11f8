// A button. A disabled button stays focusable and shows the reason.
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Icon, type IconName } from "./icons.tsx";

type Kind = "plain" | "primary" | "danger" | "quiet";

const KINDS: Record<Kind, string> = {
  plain: "border-line-strong bg-surface hover:bg-raised text-ink",
  primary: "border-accent bg-accent text-on-accent hover:opacity-90",
  danger: "border-bad/40 bg-bad-ground text-bad hover:border-bad",
  quiet: "border-transparent bg-transparent text-muted hover:bg-raised hover:text-ink",
};

/** The classes of a button, for links that look like one. */
export function buttonClass(kind: Kind = "plain"): string {
  return `inline-flex items-center justify-center gap-1.5 rounded-md border px-3 py-1 text-sm min-h-8 font-medium whitespace-nowrap disabled:cursor-not-allowed disabled:opacity-50 aria-disabled:cursor-not-allowed aria-disabled:opacity-50 ${KINDS[kind]}`;
}

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "disabled"> {
  readonly kind?: Kind;
  readonly icon?: IconName;
  /** Why the button is disabled. It stays focusable, so that screen readers can read the reason. */
  readonly disabledReason?: string | undefined;
  readonly isBusy?: boolean;
  readonly children?: ReactNode;
}

export function Button({ kind = "plain", icon, disabledReason, isBusy = false, ...rest }: ButtonProps) {
  const { children, className = "", onClick, ...others } = rest;
  const isDisabled = disabledReason !== undefined || isBusy;
  return (
    <button
      type="button"
      {...others}
      className={`${buttonClass(kind)} ${className}`}
      aria-disabled={isDisabled || undefined}
      aria-busy={isBusy || undefined}
      title={disabledReason ?? others.title}
      onClick={(event) => {
        if (isDisabled) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
