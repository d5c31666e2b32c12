import { createBridges } from '../../bridges/registry.ts'
import { type ConfiguredChain, createConfiguredChain } from '../../chains/registry.ts'
import { sourceIdsOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { messageBytes } from '../../intake/submit/message-bytes.ts'
import { placesOfTransaction } from '../../intake/streams/source-transactions.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { resolveTransfer } from '../../temporal/client/transfers/resolve-transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'

export const transferForms =
  'id, the end of it as lists show it, transaction hash on either chain, digest, signed VAA, chain/emitter/sequence, source:target:nonce or chain/nonce'

const nodeTimeoutMs = 5_000

/** A given id in any form. Throws TRANSFER_NOT_FOUND, TRANSFER_AMBIGUOUS, TEMPORAL_UNAVAILABLE, and as `decode`. */
export async function findTransfer(client: TemporalClient, config: Config, given: string): Promise<string> {
  const signed = await idInMessage(config, given)
  return resolveTransfer(client, signed ?? given, {
    sourceIds: (chain) => sourceIdsOf(config, chain),
    // Only reached when Temporal knows nothing of the hash.
    placesOf: (hash) =>
      withChains(config, async (chains) => {
        await Promise.allSettled([...chains.values()].map((chain) => chain.connect()))
        return placesOfTransaction(createBridges(config, chains), chains, hash)
      }),
  })
}

/** Head, one signature, head of the body. Ids and hashes are shorter, also in hex. */
const leastBytes = 6 + 66 + 51

/** Base64 or hex. Undefined: the text is no message. */
async function idInMessage(config: Config, given: string): Promise<string | undefined> {
  const bytes = bytesOf(given)
  if (!bytes || bytes.length < leastBytes) return undefined
  return withChains(config, async (chains) => {
    const read = [...createBridges(config, chains).values()].map((bridge) => {
      try {
        return { id: transferId(bridge.decode(bytes)) }
      } catch (error) {
        return { error }
      }
    })
    const found = read.find((one) => 'id' in one)
    if (!found && read[0]) throw read[0].error
    return found?.id
  })
}

function bytesOf(text: string): Uint8Array | undefined {
  try {
    return messageBytes(text)
  } catch {
    return undefined
  }
}

/** None of the chains is connected. */
async function withChains<Result>(config: Config, use: (chains: ReadonlyMap<string, ConfiguredChain>) => Promise<Result>): Promise<Result> {
  const chains = new Map(
    Object.entries(config.chains).map(([name, chain]) => [name, createConfiguredChain(name, chain, { timeoutMs: nodeTimeoutMs })]),
  )
  try {
    return await use(chains)
  } finally {
    for (const chain of chains.values()) chain.close()
  }
}
