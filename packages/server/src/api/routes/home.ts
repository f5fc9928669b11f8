// GET /: the dashboard for browsers, and a short page with links otherwise.
import type { Dashboard } from "../../dashboard/dashboard.ts";
import { html } from "../docs/html.ts";
import { plainPage } from "../docs/plain-page.ts";
import { publicRoute, type Route } from "../router.ts";

export function homeRoute(dashboard: Dashboard): Route {
  return publicRoute(
    "GET",
    "/",
    async ({ request }) => (await dashboard.serve(request, "/")) ?? fallbackPage,
  );
}

const fallbackPage = plainPage(
  200,
  "Posthorn",
  html`<p>This server delivers webhooks. It is running.</p>
<ul>
  <li>The API is under <code>/api/v1</code>. Send your key as <code>Authorization: Bearer …</code>.</li>
  <li><a href="docs">The reference</a> shows every operation with an example; <a href="openapi.json">OpenAPI</a> is for programs.</li>
  <li>Publish with <code>POST /api/v1/events</code> and <code>{"tenant": "…", "type": "order.paid", "data": {…}}</code>.</li>
  <li><code>/healthz</code> shows whether the process is alive, <code>/readyz</code> whether it can work.</li>
</ul>`,
);
