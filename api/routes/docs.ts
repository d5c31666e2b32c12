import { docsPage, docsStyle, type OpenApiDocument } from '../docs/page.ts'
import type { Api } from '../deps.ts'

const stylesheet = '/docs/style.css'
const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const headers = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
} as const

/** `GET /docs`. Open, since a browser sends no token for a page; it shows nothing of this deployment. */
export function docsRoutes(app: Api): void {
  const options = { config: { access: 'open' }, schema: { hide: true } } as const
  let page: string | undefined
  app.get('/docs', options, (_, reply) => {
    page ??= docsPage(app.swagger() as unknown as OpenApiDocument, stylesheet)
    return reply.headers(headers).type('text/html; charset=utf-8').send(page)
  })
  app.get(stylesheet, options, (_, reply) => reply.headers(headers).type('text/css; charset=utf-8').send(docsStyle))
}
