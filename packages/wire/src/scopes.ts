// Scopes of keys and roles of members, which the library, the API and its clients share.

/** Permissions of a key. `admin` includes all others. */
export const SCOPES = [
  "events:publish",
  "webhooks:manage",
  "deliveries:read",
  "deliveries:retry",
  "payloads:read",
  "admin",
] as const;
export type Scope = (typeof SCOPES)[number];

/** Permissions of a member's tokens by role. */
export const ROLE_SCOPES = {
  owner: ["webhooks:manage", "deliveries:read", "deliveries:retry", "payloads:read"],
  admin: ["webhooks:manage", "deliveries:read", "deliveries:retry", "payloads:read"],
  member: ["deliveries:read"],
} as const satisfies Record<string, readonly Scope[]>;
export type Role = keyof typeof ROLE_SCOPES;
