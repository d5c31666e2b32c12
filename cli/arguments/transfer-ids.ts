import { createBridges } from '../../bridges/registry.ts'
import { type ConfiguredChain, createConfiguredChain } from '../../chains/registry.ts'
import { sourceIdsOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { messageBytes } from '../../intake/submit/message-bytes.ts'
import { placesOfTransaction } from '../../intake/streams/source-transactions.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { resolveTransfer } from '../../temporal/client/transfers/resolve-transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'

/** For the help of a command. */
export const transferForms =
  'id, the end of it as lists show it, transaction hash on either chain, digest, signed VAA, chain/emitter/sequence, source:target:nonce or chain/nonce'

/** Longest wait for a node, ms. */
const nodeTimeoutMs = 5_000

/**
 * The id of the transfer that a person names in any form. Throws TRANSFER_NOT_FOUND, TRANSFER_AMBIGUOUS, TEMPORAL_UNAVAILABLE; of the bytes of a message that no
 * bridge of the config takes what `decode` throws.
 */
export async function findTransfer(client: TemporalClient, config: Config, given: string): Promise<string> {
  const signed = await idInMessage(config, given)
  return resolveTransfer(client, signed ?? given, {
    sourceIds: (chain) => sourceIdsOf(config, chain),
    // Nodes are asked only when nothing else is known of the hash.
    placesOf: (hash) =>
      withChains(config, async (chains) => {
        // One that does not answer has no say.
        await Promise.allSettled([...chains.values()].map((chain) => chain.connect()))
        return placesOfTransaction(createBridges(config, chains), chains, hash)
      }),
  })
}

/** Bytes of the shortest VAA: its head, one signature, the head of its body. Ids and hashes are shorter, also in hex. */
const leastBytes = 6 + 66 + 51

/** The id of the transfer that a signed message describes, base64 or hex; undefined: it is none. */
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

/** Runs `use` with the chains of the config, which are connected to no node yet. */
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
