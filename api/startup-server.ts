import Fastify from 'fastify'
import { RelayerError } from '../domain/catalogue/errors.ts'
import { limitConnections } from '../runtime/http/server-limits.ts'
import { problemType, toErrorAnswer } from './errors.ts'
import { assertHost, listen, sendError, serverOptions } from './http.ts'
import { pageRoutes } from './page.ts'

/** Answers until the process can start. No token is checked here: requests get the code, never address or detail. */
export function createStartupServer({ hosts, ...at }: { readonly host: string; readonly port: number; readonly hosts: readonly string[] }) {
  let waiting: { readonly what: string; readonly error: RelayerError } | undefined
  const app = Fastify({ ...serverOptions, forceCloseConnections: true })
  limitConnections(app.server)
  app.setErrorHandler((error, _, reply) => sendError(reply, error))
  app.addHook('onRequest', async ({ headers }) => assertHost(headers.host, hosts))
  app.get('/health', () => ({ status: 'ok' }))
  app.get('/ready', (_, reply) => {
    const problem = waiting?.error.message ?? 'starting'
    return reply.status(503).send({ ready: false, checks: [{ name: waiting?.what ?? 'start', ok: false, vital: true, problem }] })
  })
  pageRoutes(app)
  app.setNotFoundHandler((_, reply) => {
    const { retryAfter = 1, body } = toErrorAnswer(waiting?.error)
    return reply
      .status(503)
      .type(problemType)
      .header('retry-after', String(retryAfter))
      .send({ ...body, status: 503 })
  })

  return {
    /** Listens at the first call. Throws API_LISTEN. */
    async say(what: string, error: RelayerError): Promise<void> {
      const isFirst = !waiting
      waiting = { what, error: new RelayerError(error.code) }
      if (isFirst) await listen(app, at)
    },
    /** May be called twice. */
    close: async (): Promise<void> => app.close(),
  }
}
