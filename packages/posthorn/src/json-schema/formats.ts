// The formats of JSON Schema that are checked, according to their RFCs; others are annotations. Each takes linear time:
// no nested quantifiers that can match the same character. Lengths are bounded where a bound exists.

import { isIPv4, isIPv6 } from "node:net";
import { parseUrl } from "@posthorn/wire";

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
const MAIL_USER = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const QUOTED_MAIL_USER = /^"([ !#-[\]-~]|\\[ -~])*"$/;
// RFC 3986: characters of a name, of a path and of a query.
const NAME = "[\\w.~!$&'()*+,;=-]|%[0-9a-f]{2}";
const PATH = `${NAME}|[:@/]`;
const QUERY = `${PATH}|[?]`;
const AUTHORITY = `((${NAME}|:)*@)?(\\[[0-9a-f:.]+\\]|(${NAME})*)(:\\d*)?(?=[/?#]|$)`;
const URI = new RegExp(
  `^[a-z][a-z0-9+.-]*:(//${AUTHORITY})?(${PATH})*([?](${QUERY})*)?(#(${QUERY})*)?$`,
  "i",
);

export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: isTime,
  "date-time": isDateTime,
  uuid: (text) => UUID.test(text),
  email: isEmail,
  hostname: isHostname,
  ipv4: isIPv4,
  ipv6: isPlainIPv6,
  uri: (text) => text.length <= 8_192 && URI.test(text) && parseUrl(text) !== null,
};

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

function isTime(text: string): boolean {
  const found = text.length <= 64 ? TIME.exec(text) : null;
  if (found === null) return false;
  const [, hour, minute, second, sign, offsetHour = 0, offsetMinute = 0] = found;
  if (second !== "60") return true;
  // leap seconds occur at the end of a day in UTC
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === "-" ? -1 : 1);
  return (Number(hour) * 60 + Number(minute) - offset + 2 * DAY_MINUTES) % DAY_MINUTES === DAY_MINUTES - 1;
}

const DAY_MINUTES = 24 * 60;

function isDateTime(text: string): boolean {
  return /^t$/i.test(text[10] ?? "") && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

/** A mailbox of RFC 5321: a plain or quoted local part, at a host or an address literal. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at < 1 || at > 64 || text.length > 254) return false;
  const user = text.slice(0, at);
  return (MAIL_USER.test(user) || QUOTED_MAIL_USER.test(user)) && isMailHost(text.slice(at + 1));
}

function isMailHost(text: string): boolean {
  const [, v6, address = ""] = /^\[(IPv6:)?(.*)\]$/i.exec(text) ?? [];
  if (address === "") return isHostname(text);
  return v6 === undefined ? isIPv4(address) : isPlainIPv6(address);
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => LABEL.test(label));
}

/** Excludes zones, which are local to a machine. */
function isPlainIPv6(text: string): boolean {
  return !text.includes("%") && isIPv6(text);
}
