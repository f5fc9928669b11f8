// The channels by which people are notified, as configured.
import type { SendMail } from "./mail-channel.ts";

export type ChannelName = "mail" | "alert";

export interface ChannelOptions {
  /** Null disables the channel, here and in the next option. */
  readonly sendMail: SendMail | null;
  readonly alertWebhookUrl: string | null;
}

export function channelNames({ sendMail, alertWebhookUrl }: ChannelOptions): readonly ChannelName[] {
  const names: ChannelName[] = [];
  if (sendMail !== null) names.push("mail");
  if (alertWebhookUrl !== null) names.push("alert");
  return names;
}
