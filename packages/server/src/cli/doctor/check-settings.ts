// Checks the settings for risks. Pure.
import { BlockList, isIPv6 } from "node:net";
import type { Config } from "../../config.ts";
import { type Check, note, ok, problem, warning } from "./check.ts";

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const isNewEnough = major > 20 || (major === 20 && minor >= 19);
  if (isNewEnough) return ok("Node", version);
  return problem("Node", version, "Install Node 20.19 or newer.");
}

export function checkSettingValues(config: Config): Check[] {
  const { allowHttp, sink, enabled, smtpUrl } = config;
  const risks: readonly (readonly [isSet: boolean, name: string, message: string, advice: string])[] = [
    [
      allowHttp,
      "endpoints",
      "http URLs are allowed: payloads and signatures are sent unencrypted.",
      "Unset POSTHORN_ALLOW_HTTP unless all receivers are on this machine.",
    ],
    [
      sink,
      "sink",
      "/sink/{id} accepts requests without authentication.",
      "Unset POSTHORN_SINK in production.",
    ],
    [
      enabled !== "on",
      "delivery",
      enabled === "drop" ? "Delivery is off; events are dropped." : "Delivery is off; events are stored.",
      "Unset POSTHORN_ENABLED to deliver, or turn delivery on while the server runs.",
    ],
  ];
  const noMail = "No mail is sent when an endpoint is disabled.";
  return [
    ...checkRanges(config.allowCidrs),
    ...risks.flatMap(([isSet, ...risk]) => (isSet ? [warning(...risk)] : [])),
    checkPublicUrl(config.publicUrl),
    smtpUrl === undefined
      ? note("mail", noMail, "Set SMTP_URL and POSTHORN_MAIL_FROM to send mail.")
      : ok("mail", `sent through ${smtpUrl.host}:${smtpUrl.port}`),
  ];
}

function checkPublicUrl(url: string | undefined): Check {
  if (url === undefined) {
    return note(
      "public URL",
      "It is not set: links use the address that the server listens on.",
      "Set POSTHORN_PUBLIC_URL to the public URL, such as https://hooks.example.com.",
    );
  }
  if (url.startsWith("https:") || /^http:\/\/(127\.|localhost|\[::1\])/.test(url))
    return ok("public URL", url);
  return warning(
    "public URL",
    `${url} does not use TLS: keys are sent unencrypted.`,
    "Add TLS, and use an https URL.",
  );
}

/** Addresses that customers must not be able to reach. */
const DANGEROUS: readonly { readonly covers: string; readonly meaning: string }[] = [
  { covers: "169.254.169.254", meaning: "the metadata service of cloud machines, which returns credentials" },
  { covers: "127.0.0.1", meaning: "every service on this machine" },
  { covers: "::1", meaning: "every service on this machine" },
];

export function checkRanges(ranges: readonly string[]): Check[] {
  const found = ranges.flatMap((range) =>
    DANGEROUS.filter(({ covers }) => contains(range, covers)).map(({ meaning }) =>
      warning(
        "allowed addresses",
        `POSTHORN_ALLOW_CIDRS has ${range}, which lets endpoints reach ${meaning}.`,
        "Allow only the networks of your receivers.",
      ),
    ),
  );
  return found.length > 0 || ranges.length === 0 ? found : [ok("allowed addresses", ranges.join(", "))];
}

function contains(range: string, address: string): boolean {
  const [network = "", bits = "0"] = range.split("/");
  if (isIPv6(network) !== isIPv6(address)) return false;
  const family = isIPv6(network) ? "ipv6" : "ipv4";
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(address, family);
}
