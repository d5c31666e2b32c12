import { request } from 'node:http'
import { listenHttp } from './servers.ts'

/** A node like a provider's: it refuses requests without its secret path, query and token. */
export interface SecretNode {
  readonly url: string
  /** Every request must have this `Authorization` header. */
  readonly authorization: string
  readonly secrets: readonly string[]
  /** `failed` counts the requests that the node refused because of `failing`. */
  readonly served: number
  readonly failed: number
  /** If true, the node answers with an error that quotes its URL, as gateways do. */
  failing: boolean
}

/**
 * Starts a node that requires its secrets. `target`: the real node. `name`: part of every secret, so that a leak shows
 * its source.
 */
export async function startSecretNode(target: string, name: string): Promise<SecretNode> {
  const secrets = [`secret-user-${name}`, `secret-password-${name}`, `secret-path-${name}`, `secret-query-${name}`, `secret-token-${name}`]
  const [user, password, path, query, token] = secrets
  const authorization = `Bearer ${token}`
  const wanted = `/v3/${path}?apikey=${query}`
  let served = 0
  let failed = 0
  const { host } = new URL(
    await listenHttp((incoming, outgoing) => {
      if (incoming.url !== wanted || incoming.headers.authorization !== authorization)
        return void outgoing.writeHead(401).end('no such key')
      if (node.failing) {
        failed++
        incoming.resume()
        return void outgoing.writeHead(503).end(`upstream of ${node.url} is away for ${authorization}`)
      }
      served++
      const upstream = request(target, { method: 'POST', headers: { 'content-type': 'application/json' } }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, { 'content-type': 'application/json' })
        answer.pipe(outgoing)
      })
      upstream.on('error', () => outgoing.destroy())
      incoming.pipe(upstream)
    }),
  )
  const node = {
    url: `http://${user}:${password}@${host}${wanted}`,
    authorization,
    secrets,
    failing: false,
    get served() {
      return served
    },
    get failed() {
      return failed
    },
  }
  return node
}
