// Settings that belong together, folded under their title and what they are now; open as soon as one of them is refused.
import { type ReactNode, useState } from "react";

export function FormGroup({
  title,
  summary,
  hasProblem,
  children,
}: {
  readonly title: string;
  /** What is set, in a few words. */
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

/** The first is what stands for none. */
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
