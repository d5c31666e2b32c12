import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { request } from 'node:http'
import type { PortageProcess } from '../devnet/portage-process.ts'
import type { PlannedAttack } from './plan.ts'
import { type AttackScene, withApi } from './scene.ts'

export interface Order {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body: unknown
}

const authors = [{ reason: 'urgent' }, { reason: 'urgent', by: 'root' }]

/**
 * The orders that would do the most harm if the API accepted them: halts, a node of the attacker, and disabled nodes.
 */
export function harmfulOrders({ chain }: Pick<PlannedAttack, 'chain'>): Order[] {
  const url = 'http://${SIGNER_URL}.example:8545'
  const node = { kind: 'setNode', change: { chain, name: 'own', disabled: false, url, use: 'all' } }
  const disabled = [0, 1, 2].map((index) => ({ kind: 'setNode', change: { chain, name: `node-${index + 1}`, disabled: true } }))
  const allButOne = disabled.map((kept) => disabled.filter((one) => one !== kept))
  const harm = [[node], disabled, ...allButOne, [{ kind: 'halt', scope: {} }]]
  return authors.flatMap((author) => harm.map((orders) => ({ method: 'POST', path: '/v1/settings', body: { ...author, orders } }) as const))
}

async function everyOrder({ apiUrl, admin }: PortageProcess): Promise<Order[]> {
  const document = (await (await fetch(`${apiUrl}/v1/openapi.json`, { headers: admin })).json()) as {
    paths?: Record<string, Record<string, unknown>>
  }
  return Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== 'get')
      .map((method) => ({ method: method.toUpperCase() as Order['method'], path: path.replaceAll(/\{\w+\}/g, 'x'), body: {} })),
  )
}

/** Sends orders without a token, with tokens signed by foreign keys, or with a foreign Host header (DNS rebinding). */
export async function apiOrders(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  const orders = [...harmfulOrders(attack), ...(await ordersOfDocument(scene))]
  const answers = await Promise.all(headersOf(attack.kind).map((headers) => answersTo(scene, orders, headers)))
  return `answers: ${[...new Set(answers.flat())].toSorted((a, b) => a - b).join(', ')}`
}

/** Every order in the API's OpenAPI document. Empty if no process answers. */
export async function ordersOfDocument(scene: AttackScene): Promise<Order[]> {
  const [one] = withApi(scene)
  return one ? everyOrder(one).catch(() => []) : []
}

/**
 * Sends orders with `headers` that must not permit them, and records accepted orders as findings. Returns the status of
 * each answer, or 0 if there was no answer.
 */
export async function answersTo(scene: AttackScene, orders: readonly Order[], headers: Record<string, string>): Promise<number[]> {
  const answers: number[] = []
  for (const { apiUrl } of withApi(scene)) {
    for (const order of orders) {
      const status = await send(apiUrl, order, headers).catch(() => 0)
      answers.push(status)
      if (status >= 200 && status < 300) scene.unnamedOrders.push(`${order.method} ${order.path} with ${Object.keys(headers).join(', ')}`)
    }
  }
  return answers
}

export async function apiJunk(scene: AttackScene): Promise<string> {
  const bodies = ['{', '{"a":'.repeat(50_000), 'x'.repeat(2 ** 20), '\0', '{"__proto__":{"by":"root"}}']
  const answers: number[] = []
  for (const { apiUrl } of withApi(scene)) {
    for (const body of bodies) answers.push(await send(apiUrl, { method: 'POST', path: '/v1/settings', body }, {}).catch(() => 0))
    answers.push(await send(apiUrl, { method: 'POST', path: '/v1/transfers/%ff', body: {} }, {}).catch(() => 0))
  }
  return `answers: ${[...new Set(answers)].toSorted((a, b) => a - b).join(', ')}`
}

function headersOf(kind: PlannedAttack['kind']): Record<string, string>[] {
  if (kind === 'api-foreign-host') return [{ host: 'attacker.example' }, { host: 'localhost.attacker.example:80' }]
  if (kind !== 'api-forged-token') return [{}]
  return forgedTokens().map((token) => ({ authorization: `Bearer ${token}` }))
}

/** Admin tokens: unsigned, signed with a guessed secret, and signed with the attacker's own key. */
function forgedTokens(): string[] {
  const now = Math.floor(Date.now() / 1000)
  const claims = { sub: 'root', level: 'admin', iss: 'portage', aud: 'portage/default', iat: now, exp: now + 3600, jti: 'forged' }
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = (header: object, signature: (text: string) => string) => {
    const text = `${part({ typ: 'JWT', ...header })}.${part(claims)}`
    return `${text}.${signature(text)}`
  }
  const { privateKey } = generateKeyPairSync('ed25519')
  return [
    signed({ alg: 'none' }, () => ''),
    signed({ alg: 'HS256' }, (text) => createHmac('sha256', 'secret').update(text).digest('base64url')),
    signed({ alg: 'EdDSA', kid: '1' }, (text) => sign(null, Buffer.from(text), privateKey).toString('base64url')),
  ]
}

function send(apiUrl: string, { method, path, body }: Order, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(
      new URL(path, apiUrl),
      { method, headers: { 'content-type': 'application/json', ...headers }, timeout: 10_000 },
      (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    call.on('error', reject).on('timeout', () => call.destroy(new Error('no answer')))
    call.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
}
