// Form fields with label, hint and problem.
import { snakeCase } from "@posthorn/wire";
import {
  type FormEvent,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from "react";
import { type Submission, useSubmission } from "../../api/problems.ts";
import type { Problems } from "../../format/problems.ts";

const BOX =
  "min-h-8 w-full rounded-md border border-line-strong bg-surface px-2 py-1 text-ink placeholder:text-muted aria-invalid:border-bad";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly problem?: string | undefined;
}

type ControlProps<Props> = Omit<Props, keyof FieldProps> & { readonly id: string };

/** `control` gets the other props, and those that connect it to its label, hint and problem. */
function Labelled<Props extends FieldProps>({
  field: { label, hint, problem, ...rest },
  control,
}: {
  readonly field: Props;
  readonly control: (props: ControlProps<Props>) => ReactNode;
}) {
  const id = useId();
  const isDescribed = hint !== undefined || problem !== undefined;
  const props = {
    ...rest,
    id,
    ...(isDescribed && { "aria-describedby": `${id}-about` }),
    ...(problem !== undefined && { "aria-invalid": true }),
  };
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {control(props)}
      {isDescribed && (
        <p id={`${id}-about`} className={`text-xs ${problem === undefined ? "text-muted" : "text-bad"}`}>
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}

export function TextField(props: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Labelled
      field={props}
      control={({ className = "", ...rest }) => (
        <input type="text" {...rest} className={`${BOX} ${className}`} />
      )}
    />
  );
}

export function TextArea(props: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Labelled
      field={props}
      control={(rest) => (
        <textarea rows={8} spellCheck={false} {...rest} className={`${BOX} font-mono text-xs`} />
      )}
    />
  );
}

interface ChoiceProps extends Omit<SelectHTMLAttributes<HTMLSelectElement>, "children"> {
  readonly options: readonly (readonly [value: string, label: string])[];
  /** The label of an empty option. */
  readonly none?: string;
}

export function Choice(props: FieldProps & ChoiceProps) {
  return (
    <Labelled
      field={props}
      control={({ options, none, ...rest }) => (
        <select {...rest} className={BOX}>
          <Options options={options} none={none} />
        </select>
      )}
    />
  );
}

/** A choice without a visible label, for headers of pages and panels. */
export function Select({ options, none, className = "", ...rest }: ChoiceProps) {
  return (
    <select {...rest} className={`h-8 rounded-md border border-line-strong bg-surface px-2 ${className}`}>
      <Options options={options} none={none} />
    </select>
  );
}

function Options({ options, none }: Pick<ChoiceProps, "options"> & { readonly none: string | undefined }) {
  return (
    <>
      {none !== undefined && <option value="">{none}</option>}
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </>
  );
}

export function Tick({
  label,
  hint,
  checked,
  onChange,
}: Omit<FieldProps, "problem"> & {
  readonly checked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="flex gap-2">
      <input
        type="checkbox"
        id={id}
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
        className="mt-1 self-start"
      />
      <div className="min-w-0 break-words">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {hint !== undefined && <p className="text-xs text-muted">{hint}</p>}
      </div>
    </div>
  );
}

export function ProblemList({ problems }: { readonly problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <ul role="alert" className="rounded-md bg-bad-ground p-3 text-sm break-words text-bad">
      {problems.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  );
}

/** A form's submit handler: the browser must not send the form. */
export function submitted(submit: () => Promise<unknown>) {
  return (event: FormEvent) => {
    event.preventDefault();
    void submit();
  };
}

/** The values of a form, the props of its text fields, and its submission. */
export interface FormState<Form extends object> extends Submission {
  readonly form: Form;
  readonly setForm: (form: Form) => void;
  readonly field: ReturnType<typeof fieldsIn<Form>>;
}

export function useForm<Form extends object>(initial: Form): FormState<Form> {
  const [form, setForm] = useState(initial);
  const submission = useSubmission();
  return { form, setForm, field: fieldsIn({ form, onChange: setForm, ...submission }), ...submission };
}

/** The JSON Pointer of a field in the API. */
export function pointerOf(name: string): string {
  return `/${snakeCase(name)}`;
}

/** Returns the props of a form's text fields: value, change handler and problem. */
export function fieldsIn<Form extends object>({
  form,
  onChange,
  problems,
}: {
  readonly form: Form;
  readonly onChange: (form: Form) => void;
  readonly problems?: Problems;
}) {
  return <Name extends keyof Form & string>(name: Name, pointer = pointerOf(name)) => ({
    value: form[name] as Form[Name] & string,
    problem: problems?.at(pointer),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ ...form, [name]: event.target.value }),
  });
}
