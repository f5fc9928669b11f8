// Where the user is: the highlighted entry of the navigation, breadcrumbs and the title of the tab.
import { fireEvent, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { sharedServer } from "../support/servers/start-server.ts";
import { openDashboard } from "./render.tsx";

const shared = sharedServer({ started: false });

const highlighted = () =>
  [...document.querySelectorAll('nav[aria-label="Main"] a[aria-current]')].map(
    ({ textContent }) => textContent,
  );
const breadcrumbs = () =>
  [...document.querySelectorAll('nav[aria-label="Breadcrumbs"] li')].map(({ textContent }) => textContent);

test("an endpoint belongs to Endpoints, with its tenant between them", async () => {
  const { tenant, path, id } = await shared.newEndpoint({ url: "https://hooks.example/in" });
  const { ui } = await openDashboard(shared, path.replace("/api/v1", ""));
  await ui.see("hooks.example");
  await waitFor(() => expect(breadcrumbs()).toEqual(["Endpoints", `/ ${tenant}`, `/ ${id}`]));
  expect(highlighted()).toEqual(["Endpoints"]);
  await waitFor(() => expect(document.title).toMatch(/^.*hooks\.example.* – Posthorn$/));
  await ui.click("Endpoints");
  await waitFor(() => expect(document.title).toBe("Endpoints – Posthorn"));
  expect(breadcrumbs()).toEqual([]);
});

test("an unknown address says so, inside the dashboard", async () => {
  const { ui } = await openDashboard(shared, "/nothing-here");
  await ui.see("Page not found");
  await waitFor(() => expect(document.title).toBe("Page not found – Posthorn"));
  expect(highlighted()).toEqual([]);
  await ui.click("Go to the start page");
  await waitFor(() => expect(highlighted()).toEqual(["Overview"]));
});

test.each(["ctrlKey", "metaKey"])(
  "%s and K open the search, also while a field has the focus",
  async (mod) => {
    const { ui } = await openDashboard(shared, "/deliveries");
    fireEvent.keyDown(await ui.field(/Tenant/), { key: "k", [mod]: true });
    await (await ui.dialog()).field("Page, ID, subject or tenant");
  },
);
