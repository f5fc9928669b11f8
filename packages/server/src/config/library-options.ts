// The settings that are options of the library: they have the same names, except for those below `websub`.
import type { PosthornOptions } from "posthorn";
import { optionNames } from "posthorn/internal";
import type { Config } from "../config.ts";
import { createSendMail } from "../mail.ts";

export function libraryOptions(config: Partial<Config>): Omit<PosthornOptions, "database"> {
  const { websub, smtpUrl, mailFrom } = config;
  const values: Readonly<Record<string, unknown>> = config;
  return {
    ...Object.fromEntries(optionNames.map((name) => [name, values[name]])),
    websub: websub ? settingsBelow(config, "websub") : undefined,
    sendMail: smtpUrl && mailFrom ? createSendMail(smtpUrl, mailFrom) : undefined,
  };
}

/** Returns settings with a prefix, such as `portalName`, by their names without it. */
export function settingsBelow(config: Partial<Config>, prefix: "websub" | "portal"): Record<string, never> {
  const ofPrefix = Object.entries(config).flatMap(([name, value]) => {
    const rest = name.startsWith(prefix) ? name.slice(prefix.length) : "";
    return rest === "" ? [] : [[rest.charAt(0).toLowerCase() + rest.slice(1), value]];
  });
  return Object.fromEntries(ofPrefix);
}
