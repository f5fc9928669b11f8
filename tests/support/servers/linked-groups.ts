// Process groups in one process: what one broadcasts, the others receive at once.
import type { ProcessGroup } from "../../../packages/server/src/processes/process-group.ts";

type Broadcasting = Pick<ProcessGroup, "broadcast" | "listen">;

export function linkedGroups(size: number): Broadcasting[] {
  const listeners = Array.from({ length: size }, () => new Map<string, (value: unknown) => void>());
  return listeners.map((own) => ({
    broadcast: (topic, value) => {
      for (const other of listeners) if (other !== own) other.get(topic)?.(structuredClone(value));
    },
    listen: (topic, receive) => void own.set(topic, receive),
  }));
}
