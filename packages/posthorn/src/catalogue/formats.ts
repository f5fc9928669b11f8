// The formats of JSON Schema that are checked; others are notes for the reader. Each in linear time: no quantifier
// within another one. Lengths are bounded where a bound exists.
import { isIPv4, isIPv6 } from "node:net";

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,12})?(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
const MAIL_USER = /^[^\s@<>(),;:\\"[\]]{1,64}$/;

export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: (text) => TIME.test(text),
  "date-time": isDateTime,
  uuid: (text) => UUID.test(text),
  email: isEmail,
  hostname: isHostname,
  ipv4: isIPv4,
  ipv6: (text) => !text.includes("%") && isIPv6(text),
  uri: (text) => text.length <= 8_192 && /^[a-z][a-z0-9+.-]*:[!-~]/i.test(text) && URL.canParse(text),
};

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

function isDateTime(text: string): boolean {
  return (
    text.length <= 64 &&
    /^[t ]$/i.test(text[10] ?? "") &&
    isDate(text.slice(0, 10)) &&
    TIME.test(text.slice(11))
  );
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  return text.length <= 254 && MAIL_USER.test(text.slice(0, at)) && isHostname(text.slice(at + 1));
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => LABEL.test(label));
}
