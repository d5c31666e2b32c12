import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { TransferStatus } from '../../temporal/contracts/transfer.ts'
import { keyOf } from './bridge.ts'
import type { Network } from './chain/network.ts'
import { world } from './clock.ts'
import type { Server } from './temporal/server.ts'

export interface Verdict {
  readonly delivered: number
  readonly cancelled: number
  readonly lost: number
  readonly duplicateEffects: number
  readonly nonceHoles: number
  readonly stuck: number
  readonly wasted: number
  /** Number of workflow tasks that threw, plus the number of runs that failed. */
  readonly brokenTasks: number
  readonly simulatedMs: number
  readonly details: readonly string[]
}

export function isClean({ lost, duplicateEffects, nonceHoles, stuck, brokenTasks }: Verdict): boolean {
  return lost + duplicateEffects + nonceHoles + stuck + brokenTasks === 0
}

interface Finished {
  /** Genuine messages, by workflow id. */
  readonly sent: ReadonlyMap<string, Transfer>
  /** Transfers whose workflow ended too early, with the reason. */
  readonly early: ReadonlyMap<string, string>
  /** Transfers that a backup of Temporal shows as cancelled, and that may have been delivered since. */
  readonly cancelledBefore: ReadonlySet<string>
  readonly server: Server
  readonly networks: readonly Network[]
  readonly holes: readonly string[]
}

export function judge({ sent, early, cancelledBefore, server, networks, holes }: Finished): Verdict {
  const found = { delivered: 0, cancelled: 0, lost: 0, duplicateEffects: 0, stuck: 0 }
  const details: string[] = [...server.failures]
  for (const [id, message] of sent) {
    const network = networks.find(({ options }) => options.name === message.targetChain) as Network
    const effects = network.effects.get(keyOf(message)) ?? []
    const status = statusOf(server, id)
    const isFinal = effects.some(({ height }) => height <= network.finalized)
    if (effects.length > 1) {
      found.duplicateEffects += effects.length - 1
      details.push(
        `${id} has ${effects.length} effects: ${effects.map(({ transaction }) => `nonce ${transaction.nonce} of ${transaction.from}`).join(', ')}`,
      )
    }
    const reason = early.get(id)
    if (reason) {
      found.lost += 1
      details.push(`${id} was ${reason}`)
    } else if (isFinal && (status?.state === 'delivered' || (status?.state === 'cancelled' && cancelledBefore.has(id))))
      found.delivered += 1
    else if (status?.state === 'cancelled' && effects.length === 0) found.cancelled += 1
    else if (status || !server.runs.get(id)?.isOpen) {
      found.lost += 1
      details.push(`${id} ended as ${status?.state ?? 'nothing'} with ${effects.length} effects`)
    } else {
      found.stuck += 1
      details.push(`${id} has no outcome; ${effects.length} effects`)
    }
  }
  const genuine = new Set([...sent.values()].map(keyOf))
  for (const key of networks.flatMap(({ effects }) => [...effects.keys()])) {
    if (genuine.has(key)) continue
    found.duplicateEffects += 1
    details.push(`the forged message ${key} was delivered`)
  }
  const wasted = networks.reduce((sum, network) => sum + network.wasted, 0)
  return {
    ...found,
    nonceHoles: holes.length,
    wasted,
    brokenTasks: server.failures.length,
    simulatedMs: Math.round(world.clock.now),
    details: [...details, ...holes],
  }
}

export function statusOf(server: Server, id: string): TransferStatus | undefined {
  const { result } = server.runs.get(id) ?? {}
  return result === undefined ? undefined : (JSON.parse(result) as TransferStatus)
}
