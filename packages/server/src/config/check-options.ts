// Checks the settings that are options of the library by the library's own checks, and those that need each other.
import { snakeCase } from "@posthorn/wire";
import { optionProblems } from "posthorn/internal";
import { apiText } from "../api/input/names.ts";
import type { Config, SettingName } from "../config.ts";
import { libraryOptions } from "./library-options.ts";
import { settings } from "./settings.ts";

/** `config` lacks the values that are wrong already. `labelOf` names a setting as it is given, with its place. */
export function checkOptions(config: Partial<Config>, labelOf: (name: SettingName) => string): string[] {
  const options = { ...libraryOptions(config), database: "postgresql://" };
  const problems = optionProblems(options).flatMap(({ pointer, message }) => {
    const path = pointer.slice(1).split("/");
    const name = settingAt(path);
    // its value is wrong already, or that of the setting it needs is
    const isKnown = !(name in config) || (name === "websub" && !("publicUrl" in config));
    const text = CONVERTED.has(name) ? withGivenName(message) : message;
    return isKnown ? [] : [inSettingNames(text, path.join("."), labelOf(name))];
  });
  return [...problems, ...mailProblems(config, labelOf)];
}

/** The option `websub.leaseSeconds` is the setting `websubLeaseSeconds`. */
function settingAt([option = "", below = ""]: readonly string[]): SettingName {
  const joined = `${option}${below.charAt(0).toUpperCase()}${below.slice(1)}`;
  return (joined in settings ? joined : option) as SettingName;
}

/** Settings whose members have other names in the library. */
const CONVERTED: ReadonlySet<SettingName> = new Set(["retryPolicy", "sources"]);

/** Writes an unknown member as it was given. */
function withGivenName(message: string): string {
  return message.replace(/(?<=has no (?:\w+ )?)"\w+"/, (name) => snakeCase(name));
}

/** Replaces the option at the beginning of a message by the setting, and writes other names as in the settings file. */
function inSettingNames(message: string, option: string, label: string): string {
  const rest = message.startsWith(option) ? message.slice(option.length) : null;
  return rest !== null && /^[: ]/.test(rest) ? `${label}${apiText(rest)}` : `${label}: ${apiText(message)}`;
}

function mailProblems(config: Partial<Config>, labelOf: (name: SettingName) => string): string[] {
  if (!("smtpUrl" in config && "mailFrom" in config)) return [];
  const { smtpUrl, mailFrom } = config;
  if (smtpUrl === undefined && mailFrom !== undefined)
    return [`${labelOf("mailFrom")} is set, but SMTP_URL is not. Set the mail server, or remove the sender.`];
  if (smtpUrl !== undefined && mailFrom === undefined)
    return [
      `${labelOf("smtpUrl")} is set, but POSTHORN_MAIL_FROM is not. Set it to the sender address, such as posthorn@example.com.`,
    ];
  return smtpUrl === undefined ? [] : linkProblems(config, labelOf("smtpUrl"));
}

function linkProblems(config: Partial<Config>, label: string): string[] {
  const urls = ["publicUrl", "customerPortalUrl"] as const;
  // one that is wrong is reported already
  if (urls.some((name) => !(name in config) || config[name] !== undefined)) return [];
  return [
    `${label} needs POSTHORN_PUBLIC_URL or POSTHORN_CUSTOMER_PORTAL_URL, because every mail has a link.`,
  ];
}
