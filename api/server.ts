import rateLimit from '@fastify/rate-limit'
import swagger from '@fastify/swagger'
import Fastify from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Config } from '../config/schema/schema.ts'
import { RelayerError } from '../domain/catalogue/errors.ts'
import { describeRoute, withComponents } from './openapi.ts'
import { limitConnections } from '../runtime/http/server-limits.ts'
import { guardRoutes, limitKey, tokenCheckOf } from './access.ts'
import type { Api, ApiDeps } from './deps.ts'
import { toErrorAnswer } from './errors.ts'
import { assertHost, listen, logFailure, sendError, serverOptions } from './http.ts'
import { executorRoutes } from './routes/executor.ts'
import { laneRoutes } from './routes/lanes.ts'
import { healthRoutes } from './routes/health.ts'
import { auditRoute } from './routes/audit.ts'
import { auditsRoutes } from './routes/audits.ts'
import { docsRoutes } from './docs.ts'
import { eventRoute } from './routes/events.ts'
import { metricsRoute } from './routes/metrics.ts'
import { orderRoutes } from './routes/orders.ts'
import { streamRoutes } from './routes/streams.ts'
import { relayVaaRoute, submitTransferRoute } from './routes/submit-transfer.ts'
import { transferOrderRoutes } from './routes/transfer-orders.ts'
import { transferRoutes } from './routes/transfers.ts'
import { pageRoutes } from './page.ts'
import { flowRoute, linksRoute, nodeRoutes, notificationRoutes, settingsRoutes, spendingRoute, stuckRoute } from './routes/readings.ts'

export const restApi = {
  createStartupServer,
  /** Throws API_LISTEN. */
  async start(deps: ApiDeps): Promise<{ stop(): Promise<void> }> {
    const { host, port } = deps.config.api
    const api = await createApi(deps)
    await listen(api, { host, port })
    deps.logger.info('the API listens', { host, port })
    return { stop: () => api.close() }
  },
}

/** Creates the API without listening. Closing the API does not close `deps`. */
export async function createApi(deps: ApiDeps): Promise<Api> {
  const app = Fastify({ ...serverOptions, forceCloseConnections: 'idle' }).withTypeProvider<ZodTypeProvider>()
  limitConnections(app.server)
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler((error, request, reply) => {
    logFailure(deps.logger, request, { status: toErrorAnswer(error).status, error })
    return sendError(reply, error)
  })
  const unknown = new RelayerError('INPUT_INVALID', { detail: 'There is no such route; GET /v1 lists them.' })
  app.setNotFoundHandler((_, reply) => sendError(reply, unknown, 404))
  app.addHook('onResponse', async (request, reply) => {
    // The label is the route's pattern, because each concrete path would create a new series of metrics.
    const route = `${request.method} ${request.routeOptions.url ?? 'unknown'}`
    deps.metrics.portage_api_requests_total.inc({ route, status: reply.statusCode })
    deps.metrics.portage_api_request_seconds.observe({ route }, reply.elapsedTime / 1000)
  })
  // Drops requests that Node's parser still reports after `limitConnections` has closed their connection.
  app.addHook('onRequest', (request, reply, done) => (request.raw.socket.destroyed ? void reply.hijack() : done()))
  app.addHook('onRequest', async ({ headers }) => assertHost(headers.host, deps.config.api.hosts))
  const check = tokenCheckOf(deps)
  await app.register(rateLimit, { max: deps.config.api.requestsPerMinute, timeWindow: '1 minute', keyGenerator: limitKey(check) })
  const components = { securitySchemes: { token: { type: 'http' as const, scheme: 'bearer', bearerFormat: 'JWT' } } }
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'Portage', version: '1' }, components },
    transform: describeRoute,
    transformObject: withComponents,
  })
  guardRoutes(app, check)

  const causes = stuckRoute(app, deps)
  for (const add of routes) add(app, deps)
  // Added last, because preClose hooks run one after another, and this route's hook waits for a poll of Temporal.
  eventRoute(app, deps, { check, causes })
  await app.ready()
  return app
}

const routes: readonly ((app: Api, deps: ApiDeps) => void)[] = [
  ...[submitTransferRoute, transferRoutes, transferOrderRoutes, laneRoutes, streamRoutes, orderRoutes, nodeRoutes, auditRoute],
  ...[auditsRoutes, settingsRoutes, notificationRoutes, relayVaaRoute, healthRoutes, metricsRoute, flowRoute, spendingRoute, linksRoute],
  ...[executorRoutes, pageRoutes, indexRoute, docsRoutes],
]

function indexRoute(app: Api): void {
  const config = { access: 'read' } as const
  app.get('/v1', { config, schema: { summary: 'The routes', response: { 200: z.object({ routes: z.array(z.string()) }) } } }, () => {
    const paths = Object.entries(app.swagger().paths ?? {})
    return { routes: paths.flatMap(([path, methods]) => Object.keys(methods ?? {}).map((method) => `${method.toUpperCase()} ${path}`)) }
  })
  app.get('/v1/openapi.json', { config, schema: { hide: true } }, (_, reply) =>
    reply.type('application/json').send(JSON.stringify(app.swagger())),
  )
}

/**
 * Answers requests while the process cannot start yet. The server does not check tokens, so it shows errors without
 * details.
 */
function createStartupServer({ hosts, ...at }: Pick<Config['api'], 'host' | 'port' | 'hosts'>) {
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
  app.setNotFoundHandler((_, reply) => sendError(reply.header('retry-after', '1'), waiting?.error, 503))

  return {
    /** Makes `/ready` name what the process waits for. The first call starts to listen. Throws API_LISTEN. */
    async say(what: string, error: RelayerError): Promise<void> {
      const isFirst = !waiting
      waiting = { what, error: new RelayerError(error.code) }
      if (isFirst) await listen(app, at)
    },
    close: async (): Promise<void> => app.close(),
  }
}
