// What runs for long starts and stops alike: it may be stopped twice, or before it was started.
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
}
