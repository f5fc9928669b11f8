// What can be pressed. A button that cannot be pressed now says why.
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Icon, type IconName } from "./icons.tsx";

type Kind = "plain" | "primary" | "danger" | "quiet";

const KINDS: Record<Kind, string> = {
  plain: "border-line bg-surface hover:bg-raised text-ink",
  primary: "border-accent-ink bg-accent text-on-accent hover:opacity-90",
  danger: "border-bad/40 bg-bad-ground text-bad hover:border-bad",
  quiet: "border-transparent bg-transparent text-muted hover:bg-raised hover:text-ink",
};

/** For links that look like one. */
export function buttonClass(kind: Kind = "plain"): string {
  return `inline-flex items-center justify-center gap-1.5 rounded-md border px-2.5 py-1.5 text-sm font-medium whitespace-nowrap disabled:cursor-not-allowed disabled:opacity-50 aria-disabled:cursor-not-allowed aria-disabled:opacity-50 ${KINDS[kind]}`;
}

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "disabled"> {
  readonly kind?: Kind;
  readonly icon?: IconName;
  /** Why it cannot be pressed; it stays reachable, so that everybody can read it. */
  readonly refusedBecause?: string | undefined;
  readonly isBusy?: boolean;
  readonly children?: ReactNode;
}

export function Button({ kind = "plain", icon, refusedBecause, isBusy = false, ...rest }: ButtonProps) {
  const { children, className = "", onClick, ...others } = rest;
  const isOff = refusedBecause !== undefined || isBusy;
  return (
    <button
      type="button"
      {...others}
      className={`${buttonClass(kind)} ${className}`}
      aria-disabled={isOff || undefined}
      aria-busy={isBusy || undefined}
      title={refusedBecause ?? others.title}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
