// Turns delivery off and on for the whole installation, while it runs.
import { DELIVERY_MODES, type DeliveryMode } from "../../model.ts";
import type { Database } from "../../storage/database.ts";
import {
  currentDeliveryMode,
  type DeliveryModeRow,
  setDeliveryMode,
} from "../../storage/queries/delivery-modes.ts";
import { toDate } from "../page.ts";
import { type Field, readFields, required, text } from "../read-fields.ts";

export interface DeliveryModeView {
  /** The mode in effect. */
  readonly mode: DeliveryMode;
  /** `stored`: it was set while the installation ran. `setting`: it is the start-up setting. */
  readonly source: "stored" | "setting";
  /** The start-up setting of this process. */
  readonly setting: DeliveryMode;
  /** When it was set. Null if it never was. */
  readonly since: Date | null;
  readonly changedBy: string | null;
  readonly note: string | null;
  /** Events since then that endpoints would have received. */
  readonly dropped: number;
}

export interface DeliveryModeInput {
  /** Null returns to the start-up setting. */
  readonly mode: DeliveryMode | null;
  /** Why, at most 500 characters. */
  readonly note?: string | null | undefined;
  /** Who changes it, at most 200 characters. */
  readonly changedBy?: string | null | undefined;
}

export interface DeliveryModes {
  get(): Promise<DeliveryModeView>;
  /**
   * No event that is published after it has resolved is dropped by an earlier mode. Otherwise every process follows within
   * a second. Attempts in flight are finished.
   */
  set(input: DeliveryModeInput): Promise<DeliveryModeView>;
}

export interface DeliveryModesOptions {
  readonly db: Database;
  /** The start-up setting. */
  readonly setting: DeliveryMode;
  readonly onChanged: () => void;
}

export function createDeliveryModes({ db, setting, onChanged }: DeliveryModesOptions): DeliveryModes {
  return {
    get: async () => toView(await currentDeliveryMode(db)),
    set: async (input) => {
      const { mode, note, changedBy } = readFields(
        "invalid_delivery_mode",
        "The mode of delivery has no",
        input,
        FIELDS,
      );
      const row = await setDeliveryMode(db, { mode, changedBy, note });
      onChanged();
      return toView(row);
    },
  };

  function toView(row: DeliveryModeRow | null): DeliveryModeView {
    return {
      mode: row?.mode ?? setting,
      source: (row?.mode ?? null) === null ? "setting" : "stored",
      setting,
      since: toDate(row?.sinceMs),
      changedBy: row?.changedBy ?? null,
      note: row?.note ?? null,
      dropped: row?.dropped ?? 0,
    };
  }
}

const FIELDS = {
  mode: required<DeliveryMode | null>(
    (mode) => mode === null || DELIVERY_MODES.includes(mode as DeliveryMode),
    `is one of ${DELIVERY_MODES.join(", ")}, or null for the start-up setting.`,
  ),
  note: orNull(text(500)),
  changedBy: orNull(text(200)),
};

function orNull<T>(field: Field<T | null>): Field<T | null> {
  return (value, ...rest) => (value === null ? null : field(value, ...rest));
}
