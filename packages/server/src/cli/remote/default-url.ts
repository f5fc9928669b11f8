// The server that commands use if none is set, in its own file because connecting loads the API contract.
import { settings } from "../../config/settings.ts";

export const DEFAULT_URL = `http://127.0.0.1:${settings.port.default}`;
