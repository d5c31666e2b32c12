import { z } from 'zod'
import type { Api } from '../deps.ts'

/** `GET /` lists the routes; `GET /openapi.json` describes them. Registered last, since it lists the routes that exist. */
export function indexRoute(app: Api): void {
  app.get('/', { schema: { summary: 'The routes', response: { 200: z.object({ routes: z.array(z.string()) }) } } }, () => ({
    routes: listRoutes(app),
  }))
  app.get('/openapi.json', { schema: { hide: true } }, (_, reply) => reply.type('application/json').send(JSON.stringify(app.swagger())))
}

function listRoutes(app: Api): string[] {
  const paths = Object.entries(app.swagger().paths ?? {})
  return paths.flatMap(([path, methods]) => Object.keys(methods ?? {}).map((method) => `${method.toUpperCase()} ${path}`))
}
