// What every part of the form of an endpoint is given.
import type { EndpointForm, TextFieldName } from "../../../format/endpoint-form.ts";
import type { Problems } from "../../../format/problems.ts";

export interface FormParts {
  readonly form: EndpointForm;
  /** As it was when the editing began: of a new one, empty. */
  readonly before: EndpointForm;
  readonly onChange: (form: EndpointForm) => void;
  readonly problems: Problems;
  readonly isNew: boolean;
}

/** What a field needs to show a part of the form, and what the server has against it. */
export function fieldsIn({ form, onChange, problems }: FormParts) {
  return (name: TextFieldName, pointer: string) => ({
    value: form[name],
    problem: problems.at(pointer),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ ...form, [name]: event.target.value }),
  });
}
