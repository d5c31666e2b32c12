import Fastify from 'fastify'
import { RelayerError } from '../domain/catalogue/errors.ts'
import { limitConnections } from '../runtime/http/server-limits.ts'
import { problemType, toErrorAnswer } from './errors.ts'
import { assertHost, listen, sendError, serverOptions } from './http.ts'
import { pageRoutes } from './page.ts'

/**
 * Answers in place of the API until the process can start: `/health` is 200, `/ready` is 503 with the reason, `/` is
 * the page. Every other request is refused with the error that blocks the start. Requests here have no checked token,
 * so they get the code and its meaning; address and detail are in the log only.
 */
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
  // The page shows the reason of the refused requests.
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
    /** Sets the reason, and begins to listen at the first call. Throws API_LISTEN. */
    async say(what: string, error: RelayerError): Promise<void> {
      const isFirst = !waiting
      waiting = { what, error: new RelayerError(error.code) }
      if (isFirst) await listen(app, at)
    },
    /** Frees the port for the API. May be called twice. */
    close: async (): Promise<void> => app.close(),
  }
}
