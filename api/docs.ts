import { groupBy } from '../domain/group-by.ts'
import type { Api } from './deps.ts'
import { expandedPaths } from './openapi.ts'
import { pageHeaders } from './page.ts'

interface JsonSchema extends Partial<Record<'minimum' | 'maximum' | 'maxLength' | 'maxItems', number>> {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly additionalProperties?: JsonSchema | boolean
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly default?: unknown
}

type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>

interface OpenApiOperation {
  readonly summary?: string
  readonly description?: string
  readonly security?: readonly object[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly description?: string
    readonly schema?: JsonSchema
  }[]
  readonly requestBody?: { readonly content?: Content }
  readonly responses?: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>
}

const stylesheet = '/docs/style.css'
const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const headers = { ...pageHeaders, 'content-security-policy': policy }

/** `GET /docs` needs no token: browsers send none for a page, and the page shows nothing about this deployment. */
export function docsRoutes(app: Api): void {
  const options = { config: { access: 'open' }, schema: { hide: true } } as const
  let page: string | undefined
  app.get('/docs', options, (_, reply) => {
    page ??= docsPage(app.swagger())
    return reply.headers(headers).type('text/html; charset=utf-8').send(page)
  })
  app.get(stylesheet, options, (_, reply) => reply.headers(headers).type('text/css; charset=utf-8').send(docsStyle))
}

function docsPage(document: Exclude<ReturnType<Api['swagger']>, string>): string {
  const { info } = document
  const paths = Object.entries(expandedPaths(document) as Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>)
  const operations = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, html: operationHtml(method.toUpperCase(), path, operation) })),
  )
  const groups = groupBy(operations, ({ path }) => /^\/v1\/([a-z]+)/.exec(path)?.[1] ?? 'other')
  const names = [...groups.keys()]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(info.title)} API</title>
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
<header>
<h1>${escaped(info.title)} API, version ${escaped(info.version)}</h1>
<p>Every request but those for health, readiness, metrics and the Executor (<code>/v0</code>) carries a token: <code>Authorization: Bearer …</code>.
Refusals are problem details (RFC 9457). The OpenAPI 3.1 document of these routes: <code>GET /v1/openapi.json</code>.</p>
<nav aria-label="Groups">${names.map((name) => `<a href="#${escaped(name)}">${escaped(name)}</a>`).join(' ')}</nav>
</header>
<main>
${[...groups].map(([name, rows]) => `<section id="${escaped(name)}"><h2>${escaped(name)}</h2>\n${rows.map(({ html }) => html).join('\n')}\n</section>`).join('\n')}
</main>
</body>
</html>
`
}

function operationHtml(method: string, path: string, operation: OpenApiOperation): string {
  const { summary = '', description, parameters = [], requestBody, responses = {} } = operation
  const rows = parameters.map(({ name, in: where, required, schema = {}, description: text = schema.description ?? '' }) => {
    const need = required ? '' : ' <span class="optional">optional</span>'
    return `<tr><td><code>${escaped(name)}</code>${need}</td><td>${escaped(where)}</td><td class="type">${escaped(typeText(schema))}</td><td>${escaped(text)}</td></tr>`
  })
  const head = '<tr><th>name</th><th>in</th><th>type</th><th>what it is</th></tr>'
  const answers = Object.entries(responses).map(([status, { description: text, content = {} }]) => {
    const said = text && text !== 'Default Response' ? ` ${escaped(text)}` : ''
    return `<li><code>${escaped(status)}</code>${said}${Number(status) >= 400 ? '' : contentHtml(content)}</li>`
  })
  return `<details id="${escaped(idOf(method, path))}">
<summary><span class="method">${escaped(method)}</span> <code>${escaped(path)}</code> ${escaped(summary)}</summary>
${description ? `<p>${escaped(description)}</p>` : ''}
${rows.length > 0 ? `<div class="scroll"><table>${head}${rows.join('')}</table></div>` : ''}
${requestBody?.content ? `<h3>Body</h3>${contentHtml(requestBody.content)}` : ''}
<h3>Answers</h3><ul>${answers.join('')}</ul>
</details>`
}

function contentHtml(content: Content): string {
  return Object.entries(content)
    .map(([type, { schema = {} }]) => ` <span class="type">${escaped(type)}</span>${fieldsHtml(schema)}`)
    .join('')
}

function idOf(method: string, path: string): string {
  return `${method.toLowerCase()}${path.replaceAll(/[^a-z0-9]+/gi, '-')}`
}

const deepest = 5

function typeText(schema: JsonSchema): string {
  const { type, items, const: only, anyOf, oneOf = anyOf } = schema
  if (only !== undefined) return JSON.stringify(only)
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' or ')
  if (oneOf) return [...new Set(oneOf.map(typeText))].join(' or ')
  if (type === 'array') return `array of ${items ? typeText(items) : 'anything'}`
  if (type === 'object' && !schema.properties && typeof schema.additionalProperties === 'object') {
    return `map of ${typeText(schema.additionalProperties)}`
  }
  return [[type ?? 'anything'].flat().join(' or '), limitsText(schema)].filter(Boolean).join(', ')
}

function limitsText({ format, minimum, maximum, maxLength, maxItems, default: usual }: JsonSchema): string {
  const isSafe = (limit: number | undefined) => limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER
  return [
    format,
    isSafe(minimum) ? `at least ${minimum}` : '',
    isSafe(maximum) ? `at most ${maximum}` : '',
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    maxItems === undefined ? '' : `at most ${maxItems}`,
    usual === undefined ? '' : `default ${JSON.stringify(usual)}`,
  ]
    .filter(Boolean)
    .join(', ')
}

function fieldsHtml(schema: JsonSchema, depth = 0): string {
  const { properties, items, anyOf, oneOf = anyOf, required = [], additionalProperties } = schema
  if (depth > deepest) return ''
  if (items) return fieldsHtml(items, depth)
  if (oneOf) {
    const options = oneOf.map((one) => fieldsHtml(one, depth + 1)).filter(Boolean)
    return options.length < 2 ? options.join('') : `<p>One of these:</p>${options.join('<p>or</p>')}`
  }
  if (!properties) return typeof additionalProperties === 'object' ? fieldsHtml(additionalProperties, depth + 1) : ''
  const rows = Object.entries(properties).map(([name, field]) => {
    const optional = required.includes(name) ? '' : ' <span class="optional">optional</span>'
    const text = field.description ? ` ${escaped(field.description)}` : ''
    return `<li><code>${escaped(name)}</code> <span class="type">${escaped(typeText(field))}</span>${optional}${text}${fieldsHtml(field, depth + 1)}</li>`
  })
  return `<ul>${rows.join('')}</ul>`
}

const replaced: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (one) => replaced[one] ?? '')
}

const docsStyle = `
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --back: #ffffff; --line: #d0d7de; --accent: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9aa4af; --back: #0d1117; --line: #30363d; --accent: #79b8ff; } }
body { margin: 0 auto; max-width: 70rem; padding: 0 1rem 4rem; font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); }
a { color: var(--accent); }
nav a { margin-right: 0.8rem; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
details { border-top: 1px solid var(--line); padding: 0.4rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.method { display: inline-block; min-width: 3.5rem; font-weight: 700; color: var(--accent); }
.type, .optional { color: var(--soft); }
.optional { font-style: italic; }
h3 { font-size: 1rem; margin: 0.8rem 0 0.2rem; }
ul { padding-left: 1.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
td, th { text-align: left; vertical-align: top; padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid var(--line); }
`
