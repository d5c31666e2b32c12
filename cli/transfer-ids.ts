import { createBridges } from '../bridges/registry.ts'
import { createConfiguredChain } from '../chains/registry.ts'
import { sourceIdsOf } from '../config/transfer-sources.ts'
import type { Config } from '../config/schema.ts'
import { placesOfTransaction } from '../streams/source-transactions.ts'
import type { TemporalClient } from '../temporal/client/client.ts'
import { type MessagePlace, resolveTransfer } from '../temporal/client/resolve-transfer.ts'

/** For the help of a command. */
export const transferForms =
  'id, the end of it as lists show it, transaction hash, digest, chain/emitter/sequence, source:target:nonce or chain/nonce'

/** Longest wait for a node, ms. */
const nodeTimeoutMs = 5_000

/** The id of the transfer that a person names in any form. Throws TRANSFER_NOT_FOUND, TRANSFER_AMBIGUOUS, TEMPORAL_UNAVAILABLE. */
export function findTransfer(client: TemporalClient, config: Config, given: string): Promise<string> {
  return resolveTransfer(client, given, {
    sourceIds: (chain) => sourceIdsOf(config, chain),
    placesOf: (hash) => placesOf(config, hash),
  })
}

/** The messages of a transaction of a source chain. Nodes are asked only when nothing else is known of the hash. */
async function placesOf(config: Config, hash: string): Promise<readonly MessagePlace[]> {
  const chains = new Map(
    Object.entries(config.chains).map(([name, chain]) => [name, createConfiguredChain(name, chain, { timeoutMs: nodeTimeoutMs })]),
  )
  try {
    // One that does not answer has no say.
    await Promise.allSettled([...chains.values()].map((chain) => chain.connect()))
    return await placesOfTransaction(createBridges(config, chains), chains, hash)
  } finally {
    for (const chain of chains.values()) chain.close()
  }
}
