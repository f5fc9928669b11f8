// The name under which people know an endpoint: the host of its URL.
import type { Endpoint } from "@posthorn/client";

export function endpointNameOf({ url }: Pick<Endpoint, "url">): string {
  return /^https?:\/\/(?:[^/?#]*@)?([^/?#]+)/i.exec(url)?.[1] ?? url;
}
