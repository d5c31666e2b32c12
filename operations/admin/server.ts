import type { IncomingMessage } from 'node:http'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { isOwnHost } from '../../runtime/http/server-limits.ts'
import { type Answer, openSmallServer, plainText, type SmallServer } from '../../runtime/http/small-server.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Check } from './checks.ts'
import { problemOf } from '../../observability/severity.ts'
import { keptRead } from '../../runtime/shared-read.ts'

/** One rendering serves all who ask within so long, ms: nobody makes a process count all day. */
const keepMetricsMs = 500

export interface AdminOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** Names that it is asked by, beside addresses and localhost. */
  readonly hosts: readonly string[]
  /** Why the process is of no use, and should be started again; undefined: it is alive. */
  readonly problem: () => string | undefined
  /** What the process depends on. Throws never. */
  readonly checks: () => Promise<readonly Check[]>
  /** Prometheus text. */
  readonly metrics: () => Promise<string>
  readonly logger: Logger
}

/**
 * `GET /healthz`: 200 if the process is alive, else 503: a queue that it serves is not polled. `GET /readyz`: 200 if nothing vital is missing, else 503; each
 * check by its name. `GET /metrics`: Prometheus text. It reads, and nothing else: no token is asked for, so that it takes no order and shows no secret. Throws ADMIN_LISTEN.
 */
export async function openAdminServer({ host, port, hosts, problem, checks, metrics, logger }: AdminOptions): Promise<SmallServer> {
  const render = keptRead(metrics, { fromAnswer: keepMetricsMs })
  const routes: Readonly<Record<string, () => Promise<Answer>>> = {
    '/healthz': async () => (problem() === undefined ? plainText(200, 'ok') : plainText(503, problem() ?? '')),
    '/readyz': async () => readiness(await checks()),
    '/metrics': async () => ({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: await render() }),
  }
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    if (!isOwnHost(request.headers.host, hosts)) return plainText(421, 'The request names a host that is not in admin.hosts of the config.')
    const route = routes[(request.url ?? '').split('?', 1)[0] ?? '']
    if (!route) return plainText(404, `There are ${Object.keys(routes).join(', ')}.`)
    if (request.method !== 'GET' && request.method !== 'HEAD') return plainText(405, 'Only GET: nothing is ordered here.')
    return route()
  }
  try {
    return await openSmallServer({ host, port }, (request) =>
      answer(request).catch((error: unknown) => {
        logger.error('a request to the admin port failed', { ...problemOf(error) })
        return plainText(500, 'The log says why.')
      }),
    )
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new RelayerError('ADMIN_LISTEN', { facts: { 'admin.host': host, 'admin.port': port, reason: code }, cause })
  }
}

/** What is vital and missing comes first in `waitsFor`. */
function readiness(checks: readonly Check[]): Answer {
  const waitsFor = checks.filter(({ ok, vital }) => vital && !ok).map(({ name }) => name)
  const ready = waitsFor.length === 0
  return { status: ready ? 200 : 503, type: 'application/json; charset=utf-8', body: JSON.stringify({ ready, waitsFor, checks }) }
}
