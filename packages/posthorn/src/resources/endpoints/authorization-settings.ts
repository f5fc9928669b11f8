// The token that a receiver knows its sender by, as it is given: what is taken, and where it may go.
import { isObject } from "@posthorn/wire";
import { hasQueryToken } from "../../destinations/webhook/authorize.ts";
import { findUnknown } from "../../did-you-mean.ts";
import type { InputProblem } from "../../errors.ts";
import { AUTHORIZATION_TYPES, type AuthorizationType } from "../../model.ts";
import type { Refuse, SettingsCheck } from "./settings-check.ts";

// RFC 6750 §2.1
const TOKEN_SYNTAX = /^[A-Za-z0-9._~+/-]+=*$/;
const MAX_TOKEN_LENGTH = 4096;

export function readAuthorization(
  value: unknown,
  refuse: Refuse,
  current: AuthorizationType | null,
): AuthorizationType | undefined {
  if (!isObject(value)) return refuse('authorization is an object such as { type: "bearer", token: "…" }.');
  const { type, token, ...unknown } = value;
  const problems: InputProblem[] = [];
  findUnknown("An authorization has no", unknown, ["type", "token"], problems);
  for (const { message, pointer } of problems) refuse(message, pointer);
  const isToken = typeof token === "string" && token.length <= MAX_TOKEN_LENGTH && TOKEN_SYNTAX.test(token);
  if (token === undefined && current === null) refuse("The token is missing.", "/token");
  else if (token !== undefined && !isToken) {
    const most = MAX_TOKEN_LENGTH.toLocaleString("en");
    refuse(
      `A token is 1 to ${most} of the letters, digits and - . _ ~ + /, with = at its end only.`,
      "/token",
    );
  }
  const found = AUTHORIZATION_TYPES.find((known) => known === type);
  return found ?? refuse(`Choose one of ${AUTHORIZATION_TYPES.join(", ")}.`, "/type");
}

/** Of an endpoint that is new there is none to differ from. */
export function isOtherHost(currentUrl: string, url: string): boolean {
  return currentUrl !== "" && URL.canParse(url) && new URL(url).origin !== new URL(currentUrl).origin;
}

/** Whoever may change the URL but cannot see the token must not have it sent to a place of their own. */
export function checkAuthorization(
  check: SettingsCheck,
  type: AuthorizationType,
  currentUrl: string,
  url: string,
): void {
  const isGivenAgain = isObject(check.given("authorization"));
  const isElsewhere = isOtherHost(currentUrl, url);
  const { token } = isGivenAgain ? (check.given("authorization") as { token?: unknown }) : {};
  if (isElsewhere && token === undefined) {
    check.refuse(
      "/authorization/token",
      "The token was given for another host. Give it again, or null for none.",
    );
  }
  if (type === "query" && hasQueryToken(url)) {
    check.refuse("/url", "The URL has an access_token already; leave it to authorization.");
  }
}
