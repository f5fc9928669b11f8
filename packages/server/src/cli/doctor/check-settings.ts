// Checks the settings for risks. Pure.
import type { Config } from "../../config.ts";
import { type Check, note, ok, warning } from "./check.ts";

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const isNewEnough = major > 20 || (major === 20 && minor >= 19);
  if (isNewEnough) return ok("Node", version);
  return { name: "Node", level: "problem", message: version, advice: "Install Node 20.19 or newer." };
}

export function checkSettingValues(config: Config): Check[] {
  return [
    ...checkRanges(config.allowCidrs),
    ...(config.allowHttp
      ? [
          warning(
            "endpoints",
            "http URLs are allowed: payloads and signatures are sent unencrypted.",
            "Unset POSTHORN_ALLOW_HTTP unless all receivers are on this machine.",
          ),
        ]
      : []),
    ...(config.sink
      ? [
          warning(
            "sink",
            "/sink/{id} accepts requests without authentication.",
            "Unset POSTHORN_SINK in production.",
          ),
        ]
      : []),
    ...(config.enabled
      ? []
      : [
          warning(
            "delivery",
            "Delivery is disabled; events are stored.",
            "Unset POSTHORN_ENABLED to deliver.",
          ),
        ]),
    checkPublicUrl(config.publicUrl),
    config.smtpUrl === undefined
      ? note(
          "mail",
          "No mail is sent when an endpoint is disabled.",
          "Set SMTP_URL and POSTHORN_MAIL_FROM to send mail.",
        )
      : ok("mail", `sent through ${config.smtpUrl.host}:${config.smtpUrl.port}`),
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
    "Add TLS, and set the URL with https.",
  );
}

/** Addresses that customers must not be able to reach. */
const DANGEROUS: readonly { readonly covers: string; readonly meaning: string }[] = [
  { covers: "169.254.169.254", meaning: "the metadata service of cloud machines, which returns credentials" },
  {
    covers: "127.0.0.1",
    meaning: "every service on this machine",
  },
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

export function contains(range: string, address: string): boolean {
  const [network = "", bits = "0"] = range.split("/");
  const [a, b] = [bitsOf(network), bitsOf(address)];
  return a.length === b.length && a.slice(0, Number(bits)) === b.slice(0, Number(bits));
}

function bitsOf(address: string): string {
  const parts = address.includes(":") ? hextets(address) : address.split(".").map(Number);
  const width = address.includes(":") ? 16 : 8;
  return parts.map((part) => part.toString(2).padStart(width, "0")).join("");
}

function hextets(address: string): number[] {
  const [left = "", right] = address.split("::");
  const read = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((part) => Number.parseInt(part, 16));
  if (right === undefined) return read(left);
  const [head, tail] = [read(left), read(right)];
  return [...head, ...new Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0), ...tail];
}
