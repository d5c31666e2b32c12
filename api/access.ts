import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import { assertLevel, assertScope, authenticate, bearerOf, type TokenCheck } from '../operations/access/principals.ts'
import { createKeyRing } from '../operations/access/keys.ts'
import { type OrderName, orderOf } from '../operations/orders/orders.ts'
import type { OrderSubject, Principal } from '../domain/access.ts'
import { RelayerError } from '../domain/catalogue/errors.ts'
import { isUnread } from '../temporal/client/settings/settings-watch.ts'
import type { Api, ApiDeps } from './deps.ts'
import { errorSchema } from './errors.ts'

/** `open`: no token. `read`: any valid token. Name of an order: a token of at least the level of that order. */
type RouteAccess = 'open' | 'read' | OrderName

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: RouteAccess
  }
  interface FastifyRequest {
    principal: Principal | undefined
    identity: Promise<Principal> | undefined
  }
}

function identify(request: FastifyRequest, check: TokenCheck): Promise<Principal> {
  return (request.identity ??= authenticate(bearerOf(request.headers.authorization), check))
}

/**
 * Counts requests by valid token or, without a valid token, by address, so that clients without a token cannot use up a
 * token's limit.
 */
export function limitKey(check: TokenCheck): (request: FastifyRequest) => Promise<string | number> {
  return async (request) => {
    if (request.headers.authorization === undefined) return normalizeIP(request.ip)
    return identify(request, check).then(
      ({ jti }) => `token ${jti}`,
      () => normalizeIP(request.ip),
    )
  }
}

/** Makes each later route check the token before Fastify reads the body. A route without `access` throws an Error. */
export function guardRoutes(app: Api, check: TokenCheck): void {
  app.decorateRequest('principal', undefined)
  app.decorateRequest('identity', undefined)

  app.addHook('onRoute', (route) => {
    const access = route.config?.access
    if (access === undefined) throw new Error(`the route ${route.url} does not name its access`)
    if (access === 'open') return
    const level = access === 'read' ? access : orderOf(access).level
    const guard = async (request: FastifyRequest): Promise<void> => {
      const principal = await identify(request, check)
      if (access !== 'read') assertLevel(principal, access, level)
      request.principal = principal
    }
    route.onRequest = [...[route.onRequest ?? []].flat(), guard]
    const description = [route.schema?.description, `The request needs a token of level ${level}.`].filter(Boolean).join(' ')
    const response = { ...refusals, ...(route.schema?.response as object | undefined) }
    route.schema = { ...route.schema, description, security: [{ token: [] }], response }
  })
}

export function tokenCheckOf({ access, config, settings }: Pick<ApiDeps, 'config' | 'access' | 'settings'>): TokenCheck {
  const tokens = () => {
    const now = settings()
    return isUnread(now) ? undefined : now.tokens
  }
  return { ring: createKeyRing(access), audience: config.temporal.namespace, tokens }
}

const refusals = { 400: errorSchema, 401: errorSchema, 403: errorSchema, 429: errorSchema, 431: errorSchema, 503: errorSchema }

/** Returns the name in the token. Throws ACCESS_SCOPE unless the token's scope covers `about`. */
export function orderedBy({ principal, routeOptions }: FastifyRequest, about: OrderSubject): string {
  const { access } = routeOptions.config
  if (!principal || access === undefined || access === 'open' || access === 'read') throw new RelayerError('ACCESS_TOKEN_MISSING')
  assertScope(principal, access, about)
  return principal.name
}
