// The metrics of a receiver, in Prometheus' text format.
import type { Runtime } from "./runtime.ts";

export const receiverMetrics = {
  webhook_receiver_dead_letters: { type: "gauge", help: "Dead letters in the receiver's store", labels: [] },
} as const;

/** Empty if the store does not respond, which is reported. */
export async function metricsText<Tx>({ store, report }: Runtime<Tx>): Promise<string> {
  const name = "webhook_receiver_dead_letters";
  const { type, help } = receiverMetrics[name];
  try {
    return `# HELP ${name} ${help}.\n# TYPE ${name} ${type}\n${name} ${await store.deadLetters.count()}\n`;
  } catch (error) {
    report.failure(null, error, 0);
    return "";
  }
}
