// What an event may be. The SQL function posthorn.publish checks the same.
export const maxPayloadBytes = 256 * 1024;
export const maxDepth = 64;
export const tenantSyntax = /^[A-Za-z0-9_.:@-]{1,128}$/;
export const typeSyntax = /^[a-z0-9_]+(\.[a-z0-9_]+)*$/;
export const maxTypeLength = 128;
export const apiVersionSyntax = /^[A-Za-z0-9_.-]{1,32}$/;
export const maxSubjectLength = 256;
export const maxIdempotencyKeyLength = 256;
