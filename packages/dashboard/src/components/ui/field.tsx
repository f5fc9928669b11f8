// Form fields with label, hint and problem.
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";

const BOX =
  "w-full rounded-md border border-line bg-surface px-2.5 py-1.5 text-ink placeholder:text-muted aria-invalid:border-bad";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly problem?: string | undefined;
}

function Labelled({
  label,
  hint,
  problem,
  children,
}: FieldProps & {
  readonly children: (ids: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode;
}) {
  const id = useId();
  const isDescribed = hint !== undefined || problem !== undefined;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children({
        id,
        ...(isDescribed && { "aria-describedby": `${id}-about` }),
        ...(problem !== undefined && { "aria-invalid": true as const }),
      })}
      {isDescribed && (
        <p id={`${id}-about`} className={`text-xs ${problem === undefined ? "text-muted" : "text-bad"}`}>
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}

export function TextField({
  label,
  hint,
  problem,
  className = "",
  ...rest
}: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Labelled label={label} hint={hint} problem={problem}>
      {(ids) => <input type="text" {...rest} {...ids} className={`${BOX} ${className}`} />}
    </Labelled>
  );
}

export function TextArea({
  label,
  hint,
  problem,
  className = "",
  ...rest
}: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Labelled label={label} hint={hint} problem={problem}>
      {(ids) => (
        <textarea
          rows={8}
          spellCheck={false}
          {...rest}
          {...ids}
          className={`${BOX} font-mono text-xs ${className}`}
        />
      )}
    </Labelled>
  );
}

export function Choice({
  label,
  hint,
  problem,
  className = "",
  ...rest
}: FieldProps & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Labelled label={label} hint={hint} problem={problem}>
      {(ids) => <select {...rest} {...ids} className={`${BOX} ${className}`} />}
    </Labelled>
  );
}

export function Tick({
  label,
  hint,
  ...rest
}: { readonly label: string; readonly hint?: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className="flex gap-2">
      <input type="checkbox" id={id} {...rest} className="mt-1 self-start" />
      <div className="min-w-0 break-words">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {hint !== undefined && <p className="text-xs text-muted">{hint}</p>}
      </div>
    </div>
  );
}
