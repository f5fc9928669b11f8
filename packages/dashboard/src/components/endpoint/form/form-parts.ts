// The props of every group of the endpoint form.
import type { EndpointForm, TextFieldName } from "../../../format/endpoint-form.ts";
import type { Problems } from "../../../format/problems.ts";

export interface FormParts {
  readonly form: EndpointForm;
  /** The form when editing began. */
  readonly before: EndpointForm;
  readonly onChange: (form: EndpointForm) => void;
  readonly problems: Problems;
  readonly isNew: boolean;
}

/** Returns the props of a field: value, problem and change handler. */
export function fieldsIn({ form, onChange, problems }: FormParts) {
  return (name: TextFieldName, pointer: string) => ({
    value: form[name],
    problem: problems.at(pointer),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ ...form, [name]: event.target.value }),
  });
}
