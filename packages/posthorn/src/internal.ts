// `posthorn/internal`: what our own server shares with the library. Not for applications; it changes without notice.
export { resolveConfig as checkOptions } from "./config.ts";
export { closest, didYouMean } from "./did-you-mean.ts";
export { CheckedJson } from "./event/validate.ts";
export { isMailAddress } from "./resources/members.ts";
export { isUnavailable } from "./storage/database.ts";
