// Reads the deployment's defaults of endpoint settings, with the checks that endpoints have.
import {
  DEPLOYMENT_OPTIONS,
  type DeploymentOption,
  type DeploymentOptionValues,
  definitionOf,
} from "@posthorn/wire";
import { invalid, type OptionCheck, oneOf, within } from "../../option-checks.ts";
import type { RetryPolicyInput } from "../../settle/retry-policy-input.ts";
import type { EndpointDefaults } from "./effective-settings.ts";
import { type ReadContext, readerOf } from "./setting-readers.ts";

/** Defaults of endpoint settings, described in docs/reference/settings.md. An endpoint's own setting takes precedence. */
export type EndpointDefaultOptions = Omit<DeploymentOptionValues, "retryPolicy"> & {
  readonly retryPolicy?: RetryPolicyInput | undefined;
};

export const NO_ORDERED_BATCHES =
  "fifo is not possible with cloudevents-batch: a retried batch can arrive after a later one. Choose another format.";

type Values = Record<string, unknown>;

export function readEndpointDefaults(
  check: OptionCheck,
  options: EndpointDefaultOptions,
): Omit<EndpointDefaults, "formatContext"> {
  const given = options as Values;
  const defaults: Values = {};
  for (const option of DEPLOYMENT_OPTIONS) {
    const { name, setting, field } = option;
    const value = given[name] ?? followed(option, given, defaults);
    const read =
      value === undefined
        ? option.default
        : check.read(name, () => readOption(option, value, defaults), option.default);
    defaults[setting] = field === null ? read : { ...(defaults[setting] as Values), [field]: read };
  }
  if (defaults.ordering === "fifo" && defaults.format === "cloudevents-batch")
    check.read("ordering", () => {
      throw invalid(`ordering: ${NO_ORDERED_BATCHES}`);
    });
  return defaults as unknown as EndpointDefaults;
}

/** As for an endpoint: a limit that is given alone is not exceeded. */
function followed({ setting }: DeploymentOption, given: Values, defaults: Values): unknown {
  const { followsSetting } = definitionOf(setting);
  const other = DEPLOYMENT_OPTIONS.find((option) => option.setting === followsSetting);
  return other && given[other.name] !== undefined ? defaults[other.setting] : undefined;
}

function readOption(
  { name, setting, field, shape }: DeploymentOption,
  value: unknown,
  defaults: Values,
): unknown {
  if (shape.kind === "integer") return within(name, value as number, shape);
  if (shape.kind === "choice") return oneOf(name, value as string, shape.values);
  const problems: string[] = [];
  const refuse = (message: string, below = "") => {
    problems.push(shape.kind === "map" && below !== "" ? `"${below.slice(1)}": ${message}` : message);
    return undefined;
  };
  const context = { read: { ...defaults, authorization: null }, defaults } as unknown as ReadContext;
  const whole = field === null ? value : { ...(defaults[setting] as Values), [field]: value };
  const read = readerOf(setting, context)(whole, name, refuse);
  if (problems.length > 0) throw invalid(`${name}: ${problems.join(" ")}`);
  return field === null ? read : (read as Values)[field];
}
