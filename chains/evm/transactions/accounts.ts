import type { FinalityPolicy } from '../../../domain/finality.ts'
import { currentHead, medianOf, oncePerHead } from '../../heads.ts'
import type { Account, HeadEvent } from '../../port.ts'
import type { EvmHeads } from '../heads/heads.ts'
import { readCount, toDecimal, toQuantity } from '../hex.ts'
import { createPlausible } from '../plausible.ts'
import { type Nodes, resultsOf } from '../nodes/nodes.ts'
import { RpcError } from '../nodes/node-errors.ts'

/** Number of states that full nodes keep (go-ethereum TriesInMemory). */
export const statesKept = 128
/** Number of successive lower counts after which the higher count must have been wrong. */
const mostLowerReads = 5

const plausibleBalance = { lowest: 0.9, highest: 1.1 }
const graceMs = 500

export function createAccounts(name: string, nodes: Nodes, heads: EvmHeads, finality: FinalityPolicy) {
  const chain = { name, heads }
  const floors = createFloors()
  const balances = createPlausible(plausibleBalance)
  heads.subscribe(({ rolledBack, finalized }) => {
    const lowest = rolledBack.at(-1)
    if (lowest) floors.rolledBack(lowest.height <= finalized)
  })

  const countAt = (address: string, at: string) => nodes.request('eth_getTransactionCount', [address, at], readCount)

  const finalizedCountAt = (address: string, at: string) =>
    countAt(address, at).catch((error: unknown) => {
      if (!(error instanceof RpcError) || at === 'finalized') throw error
      return countAt(address, 'finalized')
    })

  /** Asks all nodes about an unlikely balance, because a false balance of 0 would stop the lane. */
  async function readBalance(address: string): Promise<string> {
    const read = (value: unknown) => toDecimal(value, 'balance')
    const params = [address, 'latest']
    const own = await nodes.request('eth_getBalance', params, read)
    if (nodes.readers === 1 || balances.has(address, Number(own))) return own
    const answers = await nodes.askAll('eth_getBalance', params, read, undefined, graceMs)
    const balancesOfAll = resultsOf(answers).map(BigInt)
    const middle = medianOf(balancesOfAll)
    if (middle === undefined || balancesOfAll.length < nodes.needed) return own
    balances.forget(address)
    balances.agreed(address, Number(middle))
    return String(middle)
  }

  async function readNow(address: string): Promise<Account> {
    const event = currentHead(chain)
    const [latestNonce, balance, finalizedNonce] = await Promise.all([
      countAt(address, 'latest'),
      readBalance(address),
      finality.kind === 'instant' ? undefined : finalizedCountAt(address, finalizedTag(event, finality)),
    ])
    const isCanonical = heads.kept.isCanonical(event.latest) !== false
    const nonces = floors.raise(address, { latestNonce, finalizedNonce: finalizedNonce ?? latestNonce }, isCanonical)
    const { height, hash } = event.latest
    return { ...nonces, balance, block: { height, hash } }
  }

  // Reads again after every head event, because the finalized height may rise without a new head.
  const readOnce = oncePerHead(chain, readNow, (event) => event)

  return {
    finalizedTag: () => finalizedTag(currentHead(chain), finality),
    read: (address: string) => readOnce(address.toLowerCase()),
  }
}

function finalizedTag(event: HeadEvent, finality: FinalityPolicy): string {
  if (finality.kind === 'instant') return 'latest'
  return event.latest.height - event.finalized < statesKept ? toQuantity(event.finalized) : 'finalized'
}

function createFloors() {
  const none = { latest: 0, finalized: 0, lower: 0 }
  const floors = new Map<string, { latest: number; finalized: number; lower: number }>()
  return {
    raise(address: string, read: Pick<Account, 'latestNonce' | 'finalizedNonce'>, isCanonical: boolean) {
      const known = floors.get(address) ?? none
      const isLower = read.latestNonce < known.latest || read.finalizedNonce < known.finalized
      const lower = isLower ? known.lower + 1 : 0
      const floor = lower < mostLowerReads ? { ...known, lower } : none
      const latestNonce = isCanonical ? Math.max(floor.latest, read.latestNonce) : read.latestNonce
      const finalizedNonce = Math.min(latestNonce, Math.max(floor.finalized, read.finalizedNonce))
      if (isCanonical) floors.set(address, { latest: latestNonce, finalized: finalizedNonce, lower: floor.lower })
      return { latestNonce, finalizedNonce }
    },
    rolledBack(isBelowFinality: boolean): void {
      if (isBelowFinality) floors.clear()
      else for (const floor of floors.values()) floor.latest = floor.finalized
    },
  }
}
