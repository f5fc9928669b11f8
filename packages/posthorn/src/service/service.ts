/** A long-running part. It may be stopped twice, or before it was started. */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
}
