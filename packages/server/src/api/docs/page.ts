// The API reference as one page, generated from the OpenAPI document. It needs no script and no other host. Style and
// typeface are in the built dashboard.
import { curlFor, exampleOf } from "./example.ts";
import { type Html, html, prose } from "./html.ts";
import { MARK } from "./mark.ts";
import { fieldsOf, type Schema, type Schemas, typeOf } from "./schema.ts";

export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: DocumentedOperation }>>;
  readonly components: { readonly schemas: Schemas };
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Place {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

export const DOCS_POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Placeholder for the server URL, which depends on the request; the rest of the page is cached. */
export const SERVER_URL = "{server_url}";

/** In place of the built page, which has a style. */
const WITHOUT_STYLE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference – Posthorn</title>
</head>
<body></body>
</html>
`;

/** Fills the body of `template`. */
export function docsPage(document: OpenApiDocument, template = WITHOUT_STYLE): string {
  const { info, tags, components, webhooks } = document;
  const places = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Place => ({ method, path, operation })),
  );
  const sections = tags.map(({ name }) => ({
    name,
    places: places.filter(({ operation }) => operation.tags?.includes(name)),
  }));
  const events = Object.entries(webhooks);
  const body = html`<body>
<nav aria-label="Contents">
<a class="brand" href="./">${MARK}${info.title}</a>
<p class="quiet">API ${info.version} · <a href="openapi.json">OpenAPI</a></p>
${sections.map(({ name, places: ofTag }) => navSection(name, ofTag))}
${navList(
  "webhooks",
  "System events",
  events.map(([type]) => linkTo(type)),
)}
${navList("schemas", "Schemas", Object.keys(components.schemas).map(linkTo))}
</nav>
<main>
<h1>API reference</h1>
${intro()}
${sections.map(
  ({ name, places: ofTag }) =>
    html`<section aria-labelledby="${name}"><h2 id="${name}">${titleOf(name)}</h2>${ofTag.map((place) =>
      operationOf(place, components.schemas),
    )}</section>`,
)}
<section aria-labelledby="webhooks"><h2 id="webhooks">System events</h2>
<p>Events that Posthorn itself sends to endpoints.</p>
${events.map(([type, { post }]) => webhookOf(type, post))}</section>
<section aria-labelledby="schemas"><h2 id="schemas">Schemas</h2>
${Object.entries(components.schemas).map(
  ([name, schema]) => html`<article id="${name}"><h3>${name}</h3>${fieldsOf(schema)}</article>`,
)}</section>
</main>
</body>`;
  return template.replace(/<body>\s*<\/body>/, () => body.text);
}

function intro(): Html {
  return html`<p>Send your key as <code>Authorization: Bearer …</code>. Bodies are JSON in snake_case; an unknown field is rejected with a suggestion.
Lists are <code>{"data": […], "next_cursor": …}</code>. Errors are problem documents (RFC 9457) with a stable <code>code</code>.
The examples read the server URL and the key from the environment:</p>
<pre tabindex="0"><code>export POSTHORN_URL=${SERVER_URL} POSTHORN_API_KEY=phk_…</code></pre>`;
}

function navSection(name: string, places: readonly Place[]): Html {
  return navList(
    name,
    titleOf(name),
    places.map(
      ({ method, operation }) =>
        html`<li><a href="#${operation.operationId}"><span class="method ${method}">${method}</span> ${operation.operationId.split(".")[1]}</a></li>`,
    ),
  );
}

function linkTo(id: string): Html {
  return html`<li><a href="#${id}">${id}</a></li>`;
}

function navList(id: string, title: string, items: readonly Html[]): Html {
  return html`<h3><a href="#${id}">${title}</a></h3><ul>${items}</ul>`;
}

function operationOf({ method, path, operation }: Place, schemas: Schemas): Html {
  const { operationId, summary, description, parameters = [], requestBody } = operation;
  const body = schemaOf(requestBody?.content);
  const example = body === null ? undefined : exampleOf(body, schemas);
  return html`<article id="${operationId}">
<h3><span class="method ${method}">${method}</span> <code>${path}</code></h3>
<p class="summary">${prose(summary)}. ${description === undefined ? "" : html`<span class="quiet">${prose(description)}</span>`}</p>
${parametersOf("In the path", "path", parameters)}
${parametersOf("In the query", "query", parameters)}
${parametersOf("Headers", "header", parameters)}
${body && bodyOf(`Body${requestBody?.required === false ? ", optional" : ""}`, body)}
${otherSchemasOf(requestBody?.content).map(([type, schema]) => bodyOf(`Or with Content-Type: ${type}`, schema))}
${Object.entries(operation.responses)
  .filter(([status]) => status.startsWith("2"))
  .map(([status, { content }]) => {
    const schema = schemaOf(content);
    return schema === null
      ? html`<h4>Response ${status}, without a body</h4>`
      : bodyOf(`Response ${status}`, schema);
  })}
${errorTable(operation)}
<h4>Example</h4>
<pre tabindex="0"><code>${curlFor(method, path, idsOf(parameters, schemas), example)}</code></pre>
</article>`;
}

function webhookOf(type: string, { summary, requestBody }: DocumentedOperation): Html {
  const body = schemaOf(requestBody?.content);
  return html`<article id="${type}"><h3><code>${type}</code></h3><p class="summary">${prose(summary)}.</p>${body && bodyOf("Body", body)}</article>`;
}

function parametersOf(title: string, place: string, all: readonly Parameter[]): Html {
  const given = all.filter((parameter) => parameter.in === place);
  if (given.length === 0) return html``;
  const properties = Object.fromEntries(
    given.map(({ name, description, schema }) => [
      name,
      description === undefined ? schema : { ...schema, description },
    ]),
  );
  const required = given.filter((one) => one.required).map(({ name }) => name);
  return html`<h4>${title}</h4>${fieldsOf({ properties, required })}`;
}

function errorTable({ responses }: DocumentedOperation): Html {
  const errors = Object.entries(responses).filter(([status]) => !status.startsWith("2"));
  if (errors.length === 0) return html``;
  return html`<h4>Errors <span class="type">Problem</span></h4><details><summary>${errors.map(([status]) => status).join(", ")}</summary><table class="fields">${errors.map(
    ([status, { description = "" }]) =>
      html`<tr><th scope="row">${status}</th><td>${prose(description)}</td></tr>`,
  )}</table></details>`;
}

function bodyOf(title: string, schema: Schema): Html {
  return html`<h4>${title} <span class="type">${typeOf(schema)}</span></h4>${fieldsOf(schema)}`;
}

const JSON_TYPE = "application/json";

function schemaOf(content: Content | undefined): Schema | null {
  return content?.[JSON_TYPE]?.schema ?? null;
}

function otherSchemasOf(content: Content = {}): [type: string, schema: Schema][] {
  return Object.entries(content)
    .filter(([type]) => type !== JSON_TYPE)
    .map(([type, { schema }]) => [type, schema]);
}

/** Example ids for the path parameters. */
function idsOf(parameters: readonly Parameter[], schemas: Schemas): Record<string, string> {
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  return Object.fromEntries(inPath.map(({ name, schema }) => [name, String(exampleOf(schema, schemas))]));
}

function titleOf(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
