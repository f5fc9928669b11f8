// Branding of the portal: name, logo, accent colour and appearance, readable with any colour.
import { expect, test } from "vitest";
import { expectAccessible, openPage, screenshot } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/start-server.ts";

const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>window.canary=1</script><circle cx="4" cy="4" r="4" fill="#d22"/></svg>`;
const logoUrl = `data:image/svg+xml;base64,${Buffer.from(logo).toString("base64")}`;

async function linkTo(server: TestServer): Promise<string> {
  await server.call("PUT", "/api/v1/tenants/acme", {});
  return (await server.call("POST", "/api/v1/tenants/acme/portal-links", {})).json.url;
}

test("name, logo, accent colour and dark appearance apply, also after the link has expired", async () => {
  const name = `Acme "Hooks" </title><x-canary>`;
  const server = await startServer({
    started: false,
    portal: { name, logoUrl, accent: "#fff3a0", appearance: "dark" },
  });
  const link = await linkTo(server);
  const { page } = await openPage(link, { locale: "en-GB", colorScheme: "light" });
  await page.getByText("No endpoints yet").waitFor();
  expect(await page.title()).toBe(name);
  expect(await page.locator("aside").getByText(name).count()).toBe(1);
  expect(await page.locator("aside img").evaluate((image: HTMLImageElement) => image.naturalWidth > 0)).toBe(
    true,
  );
  expect(await page.evaluate(() => "canary" in window)).toBe(false);
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  expect(await page.getByRole("button", { name: "Dark theme" }).count()).toBe(0);
  const button = page.getByRole("link", { name: "Add endpoint" }).first();
  expect(await button.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe(
    "rgb(255, 243, 160)",
  );
  await expectAccessible(page);
  await screenshot(page, "portal-theme-dark");
  await page.goto(link);
  const { page: late } = await openPage(link, { locale: "en-GB", colorScheme: "light" });
  await late.getByText("This link has expired or was already used").waitFor();
  expect(await late.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  await expectAccessible(late);
});

test.each(["#fff3a0", "#0b1030", "#7f7f7f"])(
  "buttons, tabs and links are readable in both themes with accent %s",
  async (accent) => {
    const server = await startServer({ started: false, portal: { accent } });
    const link = await linkTo(server);
    const { json: endpoint } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
      url: "http://127.0.0.1:4999/in",
      events: ["*"],
    });
    const { page } = await openPage(link, { locale: "en-GB", colorScheme: "light" });
    await page.getByRole("link", { name: "Add endpoint" }).first().waitFor();
    await page.goto(`${server.url}/portal/endpoints/${endpoint.id}?tab=test`);
    await page.getByRole("button", { name: "Send test event" }).waitFor();
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await page.waitForFunction((wanted) => document.documentElement.dataset.theme === wanted, theme);
      await expectAccessible(page, `${accent} ${theme}`, ["color-contrast"]);
      await screenshot(page, `portal-theme-${accent.slice(1)}-${theme}`);
    }
  },
);
