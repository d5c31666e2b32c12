import { type Answer, openSmallServer, plainText, type SmallServer, type SmallServerOptions } from '../../runtime/http/small-server.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Check } from './checks.ts'
import { problemOf } from '../../observability/severity.ts'
import { keptRead } from '../../runtime/shared-read.ts'

const keepMetricsMs = 500

export interface AdminOptions extends SmallServerOptions {
  readonly problem: () => string | undefined
  readonly checks: () => Promise<readonly Check[]>
  readonly metrics: () => Promise<string>
  readonly logger: Logger
}

/** The routes need no token, so they accept no orders and show no secrets. Throws ADMIN_LISTEN. */
export function openAdminServer({ problem, checks, metrics, logger, ...options }: AdminOptions): Promise<SmallServer> {
  const render = keptRead(metrics, { fromAnswer: keepMetricsMs })
  const routes: Readonly<Record<string, () => Promise<Answer>>> = {
    '/healthz': async () => (problem() === undefined ? plainText(200, 'ok') : plainText(503, problem() ?? '')),
    '/readyz': async () => readiness(await checks()),
    '/metrics': async () => ({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: await render() }),
  }
  return openSmallServer(options, {
    setting: 'admin',
    code: 'ADMIN_LISTEN',
    async answer({ method }, path) {
      const route = routes[path]
      if (!route) return plainText(404, `The paths are ${Object.keys(routes).join(', ')}.`)
      if (method !== 'GET' && method !== 'HEAD') return plainText(405, 'Only GET: this server takes no orders.')
      return route()
    },
    failure(error) {
      logger.error('a request to the admin port failed', { ...problemOf(error) })
      return plainText(500, 'The log says why.')
    },
  })
}

function readiness(checks: readonly Check[]): Answer {
  const waitsFor = checks.filter(({ ok, vital }) => vital && !ok).map(({ name }) => name)
  const ready = waitsFor.length === 0
  return { status: ready ? 200 : 503, type: 'application/json; charset=utf-8', body: JSON.stringify({ ready, waitsFor, checks }) }
}
