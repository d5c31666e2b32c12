import { decodeJwt } from 'jose'
import { bearer, makeToken } from '../devnet/access.ts'
import { answersTo, harmfulOrders, ordersOfDocument } from './api-attacks.ts'
import type { PlannedAttack } from './plan.ts'
import type { AttackScene } from './scene.ts'

/** Longest until every process refuses a revoked token, ms. */
const refusedWithinMs = 20_000

/** Tokens of Portage's own key that do not allow the order: too low a level, another chain, expired. */
export async function weakTokens(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  const other = attack.chain === 'ethereum' ? 'bsc' : 'ethereum'
  const tokens = await Promise.all([
    token(scene, { name: 'reader', level: 'read' }),
    token(scene, { name: `desk-of-${other}`, chains: [other] }),
    token(scene, { name: 'long-gone', expiresAt: Date.now() - 60_000 }),
  ])
  const answers = await Promise.all(tokens.map((one) => answersTo(scene, harmfulOrders(attack), bearer(one))))
  return `answers: ${[...new Set(answers.flat())].toSorted((a, b) => a - b).join(', ')}`
}

/**
 * A stolen admin token is revoked. Once each process knows, it is refused everywhere, also after Temporal was wiped.
 */
export async function revokedToken(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  const stolen = await token(scene, { name: `carol-${Math.floor(attack.dice * 1e9)}` })
  const jti = String(decodeJwt(stolen).jti)
  await revoke(scene, jti)
  const until = Date.now() + refusedWithinMs
  while (!(await isRefused(scene, stolen))) {
    if (Date.now() > until) {
      scene.unnamedOrders.push(`a token that was revoked ${refusedWithinMs} ms ago is taken`)
      break
    }
    await scene.wait(250)
  }
  scene.revoked.push(stolen)
  return `answers: ${(await replayRevoked(scene, attack)).join(', ')}`
}

/** Sends all orders with all revoked tokens. An accepted one counts. Returns the statuses. */
export async function replayRevoked(scene: AttackScene, attack: Pick<PlannedAttack, 'chain'>): Promise<number[]> {
  const orders = [...harmfulOrders(attack), ...(await ordersOfDocument(scene))]
  const answers = await Promise.all(scene.revoked.map((one) => answersTo(scene, orders, bearer(one))))
  return [...new Set(answers.flat())].toSorted((a, b) => a - b)
}

/** As an operator would, through any process that answers. */
async function revoke({ fleet }: AttackScene, jti: string): Promise<void> {
  const [one] = fleet.alive
  if (!one) throw new Error('no process is up')
  const body = JSON.stringify({ reason: 'a stolen token', orders: [{ kind: 'revokeToken', jti }] })
  const headers = { 'content-type': 'application/json', ...one.admin }
  const { status } = await fetch(`${one.apiUrl}/v1/settings`, { method: 'POST', headers, body })
  if (status !== 200) throw new Error(`the token was not revoked: ${status}`)
}

async function isRefused({ fleet }: AttackScene, stolen: string): Promise<boolean> {
  const look = async ({ apiUrl }: { apiUrl: string }) => (await fetch(`${apiUrl}/v1/settings`, { headers: bearer(stolen) })).status === 401
  // A process that is away answers nothing: it is asked again by `replayRevoked`.
  return (await Promise.all(fleet.alive.map((one) => look(one).catch(() => true)))).every(Boolean)
}

function token({ devnet }: AttackScene, request: Parameters<typeof makeToken>[1]): Promise<string> {
  const { dataFolder = 'portage-data', temporal } = devnet.relayerConfig()
  return makeToken({ dataFolder, temporal }, request)
}
