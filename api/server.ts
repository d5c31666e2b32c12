import rateLimit from '@fastify/rate-limit'
import swagger from '@fastify/swagger'
import Fastify from 'fastify'
import { jsonSchemaTransform, serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { RelayerError, toRelayerError } from '../domain/errors.ts'
import { asLogged } from '../observability/severity.ts'
import type { Api, ApiDeps } from './deps.ts'
import { toErrorAnswer } from './errors.ts'
import { healthRoutes } from './routes/health.ts'
import { metricsRoute } from './routes/metrics.ts'
import { relayVaaRoute } from './routes/relay-vaa.ts'
import { settingsRoutes } from './routes/settings.ts'
import { streamRoutes } from './routes/streams.ts'
import { submitTransferRoute } from './routes/submit-transfer.ts'
import { transferRoutes } from './routes/transfers.ts'
import { createStartupServer } from './startup-server.ts'

/** Far more than the longest VAA, bytes. */
const bodyLimit = 256 * 1024
/** Transfer ids are longer than fastify's 100 characters. */
const maxParamLength = 1_000

/** The API as a process starts it. */
export const restApi = {
  createStartupServer,
  /** Listens until it is stopped. Throws what the system says if it cannot. */
  async start(deps: ApiDeps): Promise<{ stop(): Promise<void> }> {
    const { host, port } = deps.config.api
    const api = await createApi(deps)
    await api.listen({ host, port })
    deps.logger.info('the API listens', { host, port })
    return { stop: () => api.close() }
  },
}

/** The REST API, which does not listen yet. Closing it does not close its dependencies. */
export async function createApi(deps: ApiDeps): Promise<Api> {
  const app = Fastify({ bodyLimit, routerOptions: { maxParamLength }, forceCloseConnections: 'idle' }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler((error, request, reply) => {
    const { status, retryAfter, body } = toErrorAnswer(error)
    if (status >= 500) {
      const { level, fields } = asLogged(toRelayerError(error), error)
      deps.logger[level]('request failed', { route: request.routeOptions.url, status, ...fields })
    }
    if (retryAfter !== undefined) void reply.header('retry-after', String(retryAfter))
    return reply.status(status).send(body)
  })
  app.setNotFoundHandler((_, reply) => {
    const { body } = toErrorAnswer(new RelayerError('INPUT_INVALID', { detail: 'There is no such route; GET / lists them.' }))
    return reply.status(404).send(body)
  })
  app.addHook('onResponse', async (request, reply) => {
    // The pattern of the route: its values would make a series each.
    const route = `${request.method} ${request.routeOptions.url ?? 'unknown'}`
    deps.metrics.portage_api_requests_total.inc({ route, status: reply.statusCode })
    deps.metrics.portage_api_request_seconds.observe({ route }, reply.elapsedTime / 1000)
  })
  await app.register(rateLimit, { max: deps.config.api.requestsPerMinute, timeWindow: '1 minute' })
  await app.register(swagger, { openapi: { info: { title: 'Portage', version: '1' } }, transform: jsonSchemaTransform })

  submitTransferRoute(app, deps)
  transferRoutes(app, deps)
  streamRoutes(app, deps)
  settingsRoutes(app, deps)
  relayVaaRoute(app, deps)
  healthRoutes(app, deps)
  metricsRoute(app, deps)
  indexRoute(app)
  await app.ready()
  return app
}

/** `GET /` lists the routes that exist so far; `GET /openapi.json` describes them. */
function indexRoute(app: Api): void {
  app.get('/', { schema: { summary: 'The routes', response: { 200: z.object({ routes: z.array(z.string()) }) } } }, () => {
    const paths = Object.entries(app.swagger().paths ?? {})
    return { routes: paths.flatMap(([path, methods]) => Object.keys(methods ?? {}).map((method) => `${method.toUpperCase()} ${path}`)) }
  })
  app.get('/openapi.json', { schema: { hide: true } }, (_, reply) => reply.type('application/json').send(JSON.stringify(app.swagger())))
}
