// A stand-in for the API of a mail service.
export interface Mail {
  readonly text: string;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

export const sent = new Map<string, string>();

export async function sendMail({ text, idempotencyKey, signal }: Mail): Promise<void> {
  signal.throwIfAborted();
  sent.set(idempotencyKey, text);
}
