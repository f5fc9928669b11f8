// The common lifecycle of long-running parts. `stop` may be called twice, or before `start`.
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
}
