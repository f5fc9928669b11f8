// The mark of Posthorn for the pages that the server generates; a test compares it with the dashboard's.
import { Html } from "./html.ts";

export const MARK = new Html(
  `<svg aria-hidden="true" viewBox="0 0 32 32"><rect class="mark-ground" width="32" height="32" rx="8"></rect><g class="mark-horn" stroke-width="2.8" stroke-linecap="round" stroke-linejoin="round"><circle cx="13" cy="18.5" r="6"></circle><path d="M6 12.5h13"></path><path class="mark-bell" d="m19 12.5 7-5v10z"></path></g></svg>`,
);
