import Fastify from 'fastify'
import { RelayerError } from '../domain/catalogue/errors.ts'
import { limitConnections } from '../runtime/http/server-limits.ts'
import { problemType, toErrorAnswer } from './errors.ts'
import { assertHost, listen, sendError, serverOptions } from './http.ts'
import { pageRoutes } from './page.ts'

/**
 * Answers in the place of the API while the process waits for what it cannot start without: `/health` is 200, `/ready` is 503 with the reason, `/` is the page, and everything else is
 * refused with the error that the start waits with. Nobody has shown a token: he gets the code and what it means, no address and no detail, which are in the log.
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
  // Its requests are refused with the reason, which it shows.
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
    /** Says what is waited for, and begins to listen the first time. Throws API_LISTEN if it cannot. */
    async say(what: string, error: RelayerError): Promise<void> {
      const isFirst = !waiting
      waiting = { what, error: new RelayerError(error.code) }
      if (isFirst) await listen(app, at)
    },
    /** Leaves the port to the API. May be called twice. */
    close: async (): Promise<void> => app.close(),
  }
}
