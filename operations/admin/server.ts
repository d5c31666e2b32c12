import type { IncomingMessage } from 'node:http'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { isOwnHost } from '../../runtime/http/server-limits.ts'
import { type Answer, openSmallServer, plainText, type SmallServer } from '../../runtime/http/small-server.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Check } from './checks.ts'
import { problemOf } from '../../observability/severity.ts'
import { keptRead } from '../../runtime/shared-read.ts'

/** ms: repeated requests must not keep the process busy. */
const keepMetricsMs = 500

export interface AdminOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Addresses and localhost are always served. */
  readonly hosts: readonly string[]
  /** Undefined: the process is alive. */
  readonly problem: () => string | undefined
  /** Never throws. */
  readonly checks: () => Promise<readonly Check[]>
  readonly metrics: () => Promise<string>
  readonly logger: Logger
}

/** `/healthz`, `/readyz`, `/metrics`. Needs no token, so takes no orders and shows no secrets. Throws ADMIN_LISTEN. */
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
    if (!route) return plainText(404, `The paths are ${Object.keys(routes).join(', ')}.`)
    if (request.method !== 'GET' && request.method !== 'HEAD') return plainText(405, 'Only GET: this server takes no orders.')
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

function readiness(checks: readonly Check[]): Answer {
  const waitsFor = checks.filter(({ ok, vital }) => vital && !ok).map(({ name }) => name)
  const ready = waitsFor.length === 0
  return { status: ready ? 200 : 503, type: 'application/json; charset=utf-8', body: JSON.stringify({ ready, waitsFor, checks }) }
}
