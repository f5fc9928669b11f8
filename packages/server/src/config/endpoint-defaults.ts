// The settings that are defaults of endpoint settings, derived from the definitions of those.
import {
  DEPLOYMENT_OPTIONS,
  type DeploymentOption,
  type DeploymentOptionName,
  type DeploymentOptionValues,
  definitionOf,
  type Setting,
  snakeCase,
} from "@posthorn/wire";
import { type Definition, optional } from "./definition.ts";
import {
  anyText,
  jsonMap,
  list,
  oneOf,
  type Parser,
  retryPolicy,
  wholeNumber,
  writtenPolicy,
} from "./parsers.ts";

type EndpointDefaults = {
  readonly [Name in DeploymentOptionName]: Definition<NonNullable<DeploymentOptionValues[Name]>, undefined>;
};

/** How a value is written. */
const WRITTEN: Partial<Readonly<Record<DeploymentOption["shape"]["kind"], string>>> = {
  list: " Separated by commas.",
  map: ' A JSON object, such as {"X-Team":"billing"}, or a map in the settings file.',
  "retry-policy": " A preset, delays such as 200ms,1s,5s, or a JSON object as in the API.",
};

export const endpointDefaults = Object.fromEntries(
  DEPLOYMENT_OPTIONS.map((option) => [option.name, definitionFrom(option)]),
) as unknown as EndpointDefaults;

function definitionFrom(option: DeploymentOption): Definition<unknown, undefined> {
  const { setting, field, shape } = option;
  const place = [setting, ...(field === null ? [] : [field])].map(snakeCase).join(".");
  const description = `Default \`${place}\` of endpoints. ${shape.description}${WRITTEN[shape.kind] ?? ""}`;
  const isSecret = definitionOf(setting).redacted !== undefined;
  const isStructured = shape.kind === "map" || shape.kind === "retry-policy";
  return {
    ...optional(parserOf(shape), unsetText(option), description),
    ...(shape.kind === "retry-policy" && { written: writtenPolicy }),
    secret: isSecret,
    isStructured,
  };
}

function parserOf(shape: DeploymentOption["shape"]): Parser<unknown> {
  switch (shape.kind) {
    case "integer":
      return wholeNumber(shape);
    case "choice":
      return oneOf(...shape.values);
    case "list":
      return list(anyText);
    case "map":
      return jsonMap;
    case "retry-policy":
      return retryPolicy;
    default:
      return anyText;
  }
}

function unsetText({ setting, field, default: preset }: DeploymentOption): string {
  const { defaultText, followsSetting }: Setting = definitionOf(setting);
  const usual = (field === null && defaultText?.replaceAll("`", "")) || String(preset);
  const followed = DEPLOYMENT_OPTIONS.find((other) => other.setting === followsSetting);
  if (followed === undefined) return usual;
  return `${usual}, or POSTHORN_${snakeCase(followed.name).toUpperCase()} if that is set`;
}
