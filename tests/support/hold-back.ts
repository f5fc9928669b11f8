// Requests of a page that are slow: they wait until they are let go.
import type { Page } from "playwright-core";

export interface HeldBack {
  /** Which, in their order: `POST /api/v1/events`. */
  readonly asked: string[];
  readonly release: () => void;
}

/** What a page asks to be done, or what it reads. */
export async function holdBack(page: Page, held: "changes" | "reads"): Promise<HeldBack> {
  let release = () => {};
  const isLetGo = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked: string[] = [];
  await page.route("**/api/v1/**", async (route) => {
    const request = route.request();
    if ((request.method() === "GET") === (held === "reads")) {
      asked.push(`${request.method()} ${new URL(request.url()).pathname}`);
      await isLetGo;
    }
    await route.continue();
  });
  return { asked, release };
}
