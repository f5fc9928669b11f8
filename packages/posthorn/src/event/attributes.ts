// Validates the CloudEvents attributes of an event, and its data against them.
import {
  type AttributeValue,
  attributeProblems,
  BINARY_HEADER_PREFIX,
  DATA_ENCODINGS,
  type EventAttributes,
  encodeHeader,
  isJsonType,
  isObject,
  textProblem,
} from "@posthorn/wire";
import { findUnknown } from "../did-you-mean.ts";
import type { InputProblem } from "../errors.ts";
import { maxAttributesBytes } from "./limits.ts";

const CORE = ["id", "source", "type", "time", "datacontenttype", "dataschema"] as const;
const NAMES: readonly (keyof EventAttributes)[] = [...CORE, "extensions", "encoding"];
/** Attributes that belong to the event itself. */
const NOT_EXTENSIONS: readonly string[] = [...CORE, "specversion", "subject"];

export function checkAttributes(
  attributes: EventAttributes,
  payload: Uint8Array,
  problems: InputProblem[],
): void {
  const wrong = (pointer: string, message: string): void => {
    problems.push({ pointer: `/attributes${pointer}`, message });
  };
  if (!isObject(attributes)) {
    wrong("", "attributes must be an object.");
    return;
  }
  const { extensions = {}, encoding, ...core } = attributes;
  if (!isObject(extensions)) {
    wrong("/extensions", "extensions must be an object.");
    return;
  }
  const unknown: InputProblem[] = [];
  findUnknown("attributes have no field", attributes, NAMES, unknown);
  for (const { pointer, message } of unknown) wrong(pointer, message);
  for (const name of Object.keys(extensions)) {
    if (NOT_EXTENSIONS.includes(name))
      wrong(`/extensions/${name}`, `${name} is not an extension; pass it as an attribute.`);
  }
  // required attributes that are missing get a valid value
  const whole = { id: "1", source: "/", type: "t", ...given(core), specversion: "1.0" };
  for (const { name, message } of attributeProblems({ ...given(extensions), ...whole })) {
    wrong(name in whole ? `/${name}` : `/extensions/${name}`, message);
  }
  const dataProblem = encodingProblem(attributes, payload);
  if (dataProblem !== null) wrong("/encoding", dataProblem);
  const bytes = Buffer.byteLength(JSON.stringify(attributes));
  const inHeaders = bytes > maxAttributesBytes ? 0 : headerBytes({ ...core, ...extensions });
  if (bytes > maxAttributesBytes)
    wrong("", `The attributes have ${bytes} bytes together; the limit is ${maxAttributesBytes}.`);
  else if (inHeaders > maxAttributesBytes)
    wrong("", `As headers the attributes have ${inHeaders} bytes; the limit is ${maxAttributesBytes}.`);
}

/** Bytes in binary mode, where a non-ASCII byte takes three. */
function headerBytes(attributes: Readonly<Record<string, unknown>>): number {
  return Object.entries(given(attributes)).reduce(
    (sum, [name, value]) =>
      sum + BINARY_HEADER_PREFIX.length + name.length + encodeHeader(value as AttributeValue).length,
    0,
  );
}

function encodingProblem({ datacontenttype, encoding }: EventAttributes, payload: Uint8Array): string | null {
  if (encoding !== undefined && !DATA_ENCODINGS.includes(encoding))
    return `encoding must be one of ${DATA_ENCODINGS.join(", ")}.`;
  if (encoding === undefined)
    return typeof datacontenttype !== "string" || isJsonType(datacontenttype)
      ? null
      : `Data of ${datacontenttype} is not JSON; set encoding.`;
  const data: unknown = JSON.parse(Buffer.from(payload).toString());
  if (encoding === "none") return data === null ? null : "Where there is no data, data must be null.";
  if (typeof data !== "string") return `With encoding ${encoding}, data must be a string.`;
  if (encoding === "text") return textProblem(data, datacontenttype);
  return Buffer.from(data, "base64").toString("base64") === data ? null : "data is not base64.";
}

function given(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
