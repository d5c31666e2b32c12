import { apiJunk, apiOrders } from './api-attacks.ts'
import { forgedRequests } from './executor-attacks.ts'
import { addNodes, lyingNode } from './node-attacks.ts'
import { cancels, payment } from './operator-acts.ts'
import { type AttackKind, type NodeKind, nodeKinds, type PlannedAttack, type PlannedKind } from './plan.ts'
import type { AttackScene } from './scene.ts'
import { floodApi, slowApi } from './slow-api.ts'
import { spyForeignEmitter, spyJunk, spyMalformed, spyOneGuardian, spyWrongGuardian } from './spy-attacks.ts'
import { temporalAttacks } from './temporal-attacks.ts'
import { revokedToken, weakTokens } from './token-attacks.ts'
import { dust, gasBurner, lookAlike, noSuchToken, twoFaced } from './user-attacks.ts'

type Act = (scene: AttackScene, attack: PlannedAttack) => Promise<string>

const acts: Readonly<Record<Exclude<PlannedKind, NodeKind>, Act>> = {
  ...temporalAttacks,
  'api-without-token': apiOrders,
  'api-forged-token': apiOrders,
  'api-foreign-host': apiOrders,
  'api-junk': apiJunk,
  'api-weak-token': weakTokens,
  'api-revoked-token': revokedToken,
  'api-slow': slowApi,
  'api-flood': floodApi,
  'added-nodes': addNodes,
  'spy-junk': spyJunk,
  'spy-wrong-guardian': spyWrongGuardian,
  'spy-one-guardian': spyOneGuardian,
  'spy-foreign-emitter': spyForeignEmitter,
  'spy-malformed': spyMalformed,
  dust,
  'no-such-token': noSuchToken,
  'gas-burner': gasBurner,
  'two-faced': twoFaced,
  'look-alike': lookAlike,
  'executor-requests': forgedRequests,
  cancel: cancels,
  payment,
}

const mostTries = 3
const againMs = 4_000

export type Attacked = Partial<Record<AttackKind, number>>

export async function attackAll(scene: AttackScene, plan: readonly PlannedAttack[], attacked: Attacked): Promise<void> {
  const started = Date.now()
  const running: Promise<void>[] = []
  for (const attack of plan) {
    await scene.wait(Math.max(0, started + attack.atMs - Date.now()))
    running.push(attackOnce(scene, attack, attacked))
  }
  await Promise.all(running)
  for (const nodes of Object.values(scene.devnet.nodes)) for (const node of nodes) node.clear()
}

/**
 * Carries out an attack. Repeats a failed attack, up to `mostTries` tries in all, unless another attack of the same
 * kind has been carried out in the meantime.
 */
async function attackOnce(scene: AttackScene, attack: PlannedAttack, attacked: Attacked): Promise<void> {
  const tell = (what: string) => scene.say(`${new Date().toISOString()} ${attack.kind} on ${attack.chain}: ${what}`)
  for (let tries = 1; tries <= mostTries; tries++) {
    try {
      tell(isOfNode(attack) ? await lyingNode(scene, attack) : await acts[attack.kind as keyof typeof acts](scene, attack))
      attacked[attack.kind] = (attacked[attack.kind] ?? 0) + 1
      return
    } catch (error) {
      // An attack that failed to start shows nothing about Portage, so the attack is not counted in `attacked`.
      tell(`failed to start: ${error instanceof Error ? error.message : String(error)}`)
    }
    if (attacked[attack.kind]) return
    await scene.wait(againMs)
  }
}

function isOfNode(attack: PlannedAttack): attack is PlannedAttack<NodeKind> {
  return (nodeKinds as readonly AttackKind[]).includes(attack.kind)
}
