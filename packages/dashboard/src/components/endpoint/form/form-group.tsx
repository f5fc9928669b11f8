// A collapsible group of settings; opens when one of them has a problem.
import { type ReactNode, useState } from "react";

export function FormGroup({
  title,
  summary,
  hasProblem,
  children,
}: {
  readonly title: string;
  /** The current values in short. */
  readonly summary: string;
  readonly hasProblem: boolean;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      open={isOpen || hasProblem}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="border-t border-line pt-2"
    >
      <summary className="py-1">
        <span className="font-semibold">{title}</span>{" "}
        <span className="text-sm break-words text-muted">{summary}</span>
      </summary>
      <fieldset className="grid min-w-0 gap-3 pt-2 sm:grid-cols-2">
        <legend className="sr-only">{title}</legend>
        {children}
      </fieldset>
    </details>
  );
}

/** The options of a select, with an empty one first. */
export function Options<Name extends string>({
  none,
  names,
  words,
}: {
  readonly none: string;
  readonly names: readonly Name[];
  readonly words: Readonly<Record<Name, string>>;
}) {
  return (
    <>
      <option value="">{none}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {words[name]}
        </option>
      ))}
    </>
  );
}
