// Turns delivery off and on for the whole installation.
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import * as s from "./parts.ts";

const mode = z.enum(["on", "hold", "drop"]);

export const deliveryModeView = s.component("DeliveryMode", {
  mode: s.choice(
    mode.options,
    "The mode in effect. `on`: deliveries are sent. `hold`: nothing is sent, and new deliveries wait. `drop`: nothing is sent, and new events get no deliveries.",
  ),
  source: s.choice(
    ["stored", "setting"],
    "`stored`: it was set while the installation ran. `setting`: it is the start-up setting `POSTHORN_ENABLED`.",
  ),
  setting: s.choice(mode.options, "The start-up setting of the process that responds."),
  since: s.nullableTime("When it was set. Null if it never was."),
  changed_by: s.nullableText("The user, key or code that set it. Null if it never was, or without a name."),
  note: s.nullableText("Why it was set. Null without a note."),
  dropped: s.int("Events since then that endpoints would have received, counted about every second."),
});
export type DeliveryMode = z.output<typeof deliveryModeView>;

const permission: Permission = { scopes: ["admin"], reach: "installation" };

export const deliveryMode = {
  get: operation("GET", "/api/v1/delivery-mode", {
    summary: "Returns whether deliveries are sent",
    permission,
    response: { status: 200, schema: deliveryModeView },
  }),
  set: operation("PUT", "/api/v1/delivery-mode", {
    summary: "Turns delivery off or on for the whole installation",
    remark:
      "No event that is published after the response is dropped by an earlier mode. Otherwise every process follows within a second. Attempts in flight are finished.",
    permission,
    body: z
      .strictObject({
        mode: mode.nullable().describe("The new mode. Null returns to the start-up setting."),
        note: s.nullishText("Why, at most 500 characters."),
      })
      .meta({ id: "DeliveryModeInput" }),
    response: { status: 200, schema: deliveryModeView },
    errors: { 422: ["invalid_delivery_mode"] },
  }),
};
