// Reads the authorization given for an endpoint, and checks that its token may be sent to the URL.
import { endpointSettings, isObject, parseUrl } from "@posthorn/wire";
import { hasQueryToken } from "../../destinations/webhook/authorize.ts";
import type { AuthorizationType } from "../../model.ts";
import type { EndpointSettings } from "../../storage/queries/endpoints/setting-columns.ts";
import type { Refuse } from "../read-fields.ts";
import { refuseUnknownFields, type SettingsCheck } from "./settings-check.ts";

// RFC 6750 §2.1
const TOKEN_SYNTAX = /^[A-Za-z0-9._~+/-]+=*$/;
const { type: typeField, token: tokenField } = endpointSettings.authorization.fields;

export interface AuthorizationInput {
  /** `bearer`: in the Authorization header. `query`: as `access_token` in the URL's query. */
  readonly type: AuthorizationType;
  /** Without it, the current token stays. */
  readonly token?: string | undefined;
}

export function readAuthorization(
  value: unknown,
  refuse: Refuse,
  current: AuthorizationType | null,
): AuthorizationType | undefined {
  if (!isObject(value)) return refuse('authorization is an object such as { type: "bearer", token: "…" }.');
  const { type, token, ...unknown } = value;
  refuseUnknownFields("An authorization has no", unknown, ["type", "token"], refuse);
  const isToken =
    typeof token === "string" && token.length <= tokenField.maxLength && TOKEN_SYNTAX.test(token);
  if (token === undefined && current === null) refuse("The token is missing.", "/token");
  else if (token !== undefined && !isToken) {
    const most = tokenField.maxLength.toLocaleString("en");
    refuse(
      `A token is 1 to ${most} of the letters, digits and - . _ ~ + /, with = at its end only.`,
      "/token",
    );
  }
  const found = typeField.values.find((known) => known === type);
  return found ?? refuse(`Choose one of ${typeField.values.join(", ")}.`, "/type");
}

/** A new endpoint has an empty current URL. */
export function isOtherHost(currentUrl: string, url: string): boolean {
  const origin = parseUrl(url)?.origin;
  return currentUrl !== "" && origin !== undefined && origin !== new URL(currentUrl).origin;
}

/** A key that may change the URL but cannot read the token must not be able to send the token elsewhere. */
export function checkAuthorization(
  check: SettingsCheck,
  { authorization: type, url }: Pick<EndpointSettings, "authorization" | "url">,
  currentUrl: string,
): void {
  if (type === null) return;
  const given = check.given("authorization");
  if (isOtherHost(currentUrl, url) && !(isObject(given) && given.token !== undefined)) {
    check.refuse(
      "/authorization/token",
      "The token was given for another host. Give it again, or null for none.",
    );
  }
  if (type === "query" && hasQueryToken(url)) {
    check.refuse("/url", "The URL already has an access_token. Remove it; authorization adds it.");
  }
}
