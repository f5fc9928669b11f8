// Resolves names in tests, which must not depend on DNS. Only registration uses it: nothing is sent to this address.
import type { Resolve } from "../attempt/guard/resolve-name.ts";

export const resolveAnyName: Resolve = async () => [{ address: "93.184.215.14", family: 4 }];
