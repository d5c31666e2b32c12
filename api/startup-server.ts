import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import type { RelayerError } from '../domain/errors.ts'
import { redactText } from '../observability/redact.ts'
import { toErrorAnswer } from './errors.ts'

/**
 * Answers in the place of the API while the process waits for what it cannot start without: `/health` is 200, `/ready` is 503 with the reason, and everything else is
 * refused with the error that the start waits with.
 */
export function createStartupServer({ host, port }: { readonly host: string; readonly port: number }) {
  let app: FastifyInstance | undefined
  let waiting: { readonly what: string; readonly error: RelayerError } | undefined

  function open(): FastifyInstance {
    const server = Fastify({ forceCloseConnections: true })
    server.get('/health', () => ({ status: 'ok' }))
    server.get('/ready', (_, reply) => {
      const problem = redactText(waiting?.error.message ?? 'starting')
      return reply.status(503).send({ ready: false, checks: [{ name: waiting?.what ?? 'start', ok: false, vital: true, problem }] })
    })
    server.setNotFoundHandler((_, reply) => {
      const { retryAfter = 1, body } = toErrorAnswer(waiting?.error)
      return reply.status(503).header('retry-after', String(retryAfter)).send(body)
    })
    return server
  }

  return {
    /** Says what is waited for, and begins to listen the first time. Throws what the system says if it cannot. */
    async say(what: string, error: RelayerError): Promise<void> {
      waiting = { what, error }
      if (app) return
      app = open()
      await app.listen({ host, port })
    },
    /** Leaves the port to the API. */
    async close(): Promise<void> {
      const closing = app
      app = undefined
      await closing?.close()
    },
  }
}
