// `posthorn delivery`: turns delivery off and on for the whole installation.
import type { DeliveryMode } from "@posthorn/client";
import type { Command } from "commander";
import { usage } from "../failure.ts";
import { commandsOf, YES } from "../remote/remote.ts";
import { facts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText } from "../terminal/text.ts";

const EFFECTS: Readonly<Record<DeliveryMode["mode"], string>> = {
  on: "on: deliveries are sent",
  hold: "hold: nothing is sent; new events wait",
  drop: "drop: nothing is sent; new events are never delivered",
};

export function addDelivery(program: Command, terminal: Terminal): void {
  const delivery = program.command("delivery").description("whether deliveries are sent, for all tenants");
  const add = commandsOf(delivery, terminal);
  const describe = (view: DeliveryMode): string => deliveryText(terminal, view);

  add(
    "show",
    "show whether deliveries are sent, since when, and who changed it",
    [],
    async ({ client, print }) => {
      print(await client.deliveryMode.get({}), describe);
    },
  );
  add<{ note?: string }>(
    "set",
    "turn delivery on or off; every process follows within a second",
    [
      [
        "<mode>",
        "on, hold (new events wait), drop (they are never delivered), or default (POSTHORN_ENABLED)",
      ],
      ["--note <text>", "why, for the audit log"],
      YES,
    ],
    async (remote, [given], { note }) => {
      const mode = modeOf(given);
      if (mode === "drop")
        await remote.confirm("Events that are published from now on are stored and never delivered.");
      remote.print(await remote.client.deliveryMode.set({ body: { mode, note } }), describe);
    },
  );
}

function modeOf(given: string): DeliveryMode["mode"] | null {
  if (given === "default") return null;
  if (given === "on" || given === "hold" || given === "drop") return given;
  throw usage(`The mode is on, hold, drop or default, not ${JSON.stringify(given)}.`);
}

function deliveryText(terminal: Terminal, view: DeliveryMode): string {
  const { mode, source, since, changed_by, note, dropped } = view;
  const lines: readonly (readonly [string, string | null])[] = [
    ["delivery", EFFECTS[mode]],
    ["set by", source === "setting" ? "POSTHORN_ENABLED at the start" : clean(changed_by ?? "unknown")],
    ["since", since === null ? null : timeText(since)],
    ["note", note === null ? null : clean(note)],
    ["dropped", mode === "drop" || dropped > 0 ? `${dropped} events` : null],
  ];
  return facts(
    terminal,
    lines.filter(([, value]) => value !== null),
  );
}
