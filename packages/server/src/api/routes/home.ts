// GET /: the dashboard for browsers, and a short page with links otherwise.
import type { Dashboard } from "../../dashboard/dashboard.ts";
import type { Reply } from "../reply.ts";
import { publicRoute, type Route } from "../router.ts";

export function homeRoute(dashboard: Dashboard): Route {
  return publicRoute(
    "GET",
    "/",
    async ({ request }) => (await dashboard.serve(request, "/")) ?? fallbackPage,
  );
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Posthorn</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }</style>
<h1>Posthorn</h1>
<p>This server delivers webhooks. It is running.</p>
<ul>
  <li>The API is under <code>/api/v1</code>. Send your key as <code>Authorization: Bearer …</code>.</li>
  <li><a href="docs">The reference</a> shows every operation with an example; <a href="openapi.json">OpenAPI</a> is for programs.</li>
  <li>Publish with <code>POST /api/v1/events</code> and <code>{"tenant": "…", "type": "order.paid", "data": {…}}</code>.</li>
  <li><code>/healthz</code> shows whether the process is alive, <code>/readyz</code> whether it can work.</li>
</ul>
</html>
`;

const fallbackPage: Reply = {
  status: 200,
  body: PAGE,
  contentType: "text/html; charset=utf-8",
  headers: [
    "Content-Security-Policy",
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  ],
};
