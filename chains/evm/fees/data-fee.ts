import { AbiCoder, concat } from 'ethers'
import type { Intent } from '../../../domain/intent.ts'
import { toDecimal } from '../hex.ts'
import type { Nodes } from '../nodes/nodes.ts'
import { buildTransaction } from '../transactions/build.ts'

/** How a network charges for a transaction, see `chains.<name>.feeModel` in the config. */
export type FeeModel = 'ethereum' | 'op-stack' | 'arbitrum'

/** GasPriceOracle, predeployed at this address on every OP stack chain (ethereum-optimism: packages/contracts-bedrock, Predeploys.sol). */
const gasPriceOracle = '0x420000000000000000000000000000000000000f'
/** `getL1Fee(bytes)`: wei for an unsigned serialised transaction; the contract adds the room of the signature itself. */
const getL1Fee = '0x49948e0e'

/**
 * What is charged is what holds in the block, and it moves with the fees of the network below. Half as much again outlasts three of that
 * network's blocks at their fastest rise (an eighth each).
 */
const roomPercent = 150n

/** Fields that only make the transaction as long as a real one: a nonce, a gas limit and fees of common size. */
const stuffing = { nonce: 1_000_000, gasLimit: '1000000', maxFee: '100000000000', tip: '1000000001' }

/** What an OP stack chain charges for a call's data. An estimate with room, wei. Throws NODE_REFUSED if it has no oracle, NODE_UNAVAILABLE. */
export function createOpStackDataFee(networkId: string, nodes: Nodes): (call: Intent) => Promise<string> {
  return async ({ to, data, value }) => {
    const { unsignedSerialized } = buildTransaction({ networkId, to, data, value, ...stuffing })
    const input = concat([getL1Fee, AbiCoder.defaultAbiCoder().encode(['bytes'], [unsignedSerialized])])
    const fee = toDecimal(await nodes.request('eth_call', [{ to: gasPriceOracle, data: input }, 'latest']), 'data fee')
    return String((BigInt(fee) * roomPercent + 99n) / 100n)
  }
}
