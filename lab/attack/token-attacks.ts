import type { Principal } from '../../domain/access.ts'
import { changeSettings } from '../../temporal/client/settings/settings.ts'
import { bearer, makeToken, signedToken } from '../devnet/access.ts'
import { answersTo, harmfulOrders, ordersOfDocument } from './api-attacks.ts'
import { until } from '../devnet/until.ts'
import type { PlannedAttack } from './plan.ts'
import { type AttackScene, withApi } from './scene.ts'

const revokedWithinMs = 60_000
const refusedWithinMs = 20_000

/**
 * Sends orders with tokens that Portage signed, but that do not allow the order: the level is too low, the scope has
 * only the other chain, or the token has expired.
 */
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

/** Revokes a stolen admin token. Every process must refuse the token, even after Temporal was wiped. */
export async function revokedToken(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  const { token: stolen, principal } = await signedToken(dataOf(scene), { name: `carol-${Math.floor(attack.dice * 1e9)}` })
  // An order that no process has read yet is lost with Temporal's data (restore.md), so no wipe may come in between.
  await scene.locks.temporal.run(async () => {
    await revoke(scene, principal)
    const until = Date.now() + refusedWithinMs
    while (!(await isRefused(scene, stolen)) && Date.now() < until) await scene.wait(250)
  })
  if (!(await isRefused(scene, stolen))) scene.unnamedOrders.push(`a token that was revoked ${refusedWithinMs} ms ago is still accepted`)
  scene.revoked.push(stolen)
  return `answers: ${(await replayRevoked(scene, attack)).join(', ')}`
}

/** Sends all orders with all revoked tokens. Records accepted orders as findings. Returns the statuses. */
export async function replayRevoked(scene: AttackScene, attack: Pick<PlannedAttack, 'chain'>): Promise<number[]> {
  const orders = [...harmfulOrders(attack), ...(await ordersOfDocument(scene))]
  const answers = await Promise.all(scene.revoked.map((one) => answersTo(scene, orders, bearer(one))))
  return [...new Set(answers.flat())].toSorted((a, b) => a - b)
}

/**
 * Revokes a token as `portage token revoke --stolen` does, because the REST API refuses to revoke an id that is not
 * listed, and a wipe deletes the list.
 */
async function revoke({ client }: AttackScene, token: Principal): Promise<void> {
  const orders = [{ kind: 'addToken', token } as const, { kind: 'revokeToken', jti: token.jti } as const]
  const change = () => changeSettings(client, { bridges: [], nodes: {}, lanes: [] }, { by: 'dora', reason: 'a stolen token', orders })
  // Temporal may be unreachable, or may have been wiped, so the change is repeated, as an operator would.
  await until(() => change().then(Boolean), { timeoutMs: revokedWithinMs, everyMs: 500, what: 'the revocation' })
}

async function isRefused(scene: AttackScene, stolen: string): Promise<boolean> {
  const look = async ({ apiUrl }: { apiUrl: string }) => (await fetch(`${apiUrl}/v1/settings`, { headers: bearer(stolen) })).status === 401
  // A process that does not answer counts as refusing here, because `replayRevoked` asks it again.
  return (await Promise.all(withApi(scene).map((one) => look(one).catch(() => true)))).every(Boolean)
}

function token(scene: AttackScene, request: Parameters<typeof makeToken>[1]): Promise<string> {
  return makeToken(dataOf(scene), request)
}

function dataOf({ devnet }: AttackScene): Parameters<typeof makeToken>[0] {
  const { dataFolder = 'portage-data', temporal } = devnet.relayerConfig()
  return { dataFolder, temporal }
}
