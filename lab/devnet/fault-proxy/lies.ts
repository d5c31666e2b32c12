import { hexlify, keccak256, randomBytes, toBeHex, toQuantity } from 'ethers'

export const lieKinds = ['prices', 'heads', 'nonces', 'gas-high', 'gas-low', 'calls', 'malformed'] as const
export type LieKind = (typeof lieKinds)[number]

const inventedBlocks = 49n
/** Factor of prices. A base fee of 1 gwei becomes one coin per 1,000 gas. */
const priceFactor = 1_000_000n

/** The answer of a node that lies as `how` says. Returns other answers unchanged. Pure, except for invented hashes. */
export function lieAbout(how: LieKind, method: string, result: unknown): unknown {
  switch (how) {
    case 'prices':
      return dearer(method, result)
    case 'heads':
      return higher(method, result)
    case 'nonces':
      return method === 'eth_getTransactionCount' && typeof result === 'string' ? plus(result, 1n) : result
    case 'gas-high':
      return method === 'eth_estimateGas' ? toQuantity(29_000_000) : result
    case 'gas-low':
      return method === 'eth_estimateGas' ? toQuantity(21_000) : result
    case 'calls':
      return method === 'eth_call' ? otherWord(result) : result
    case 'malformed':
      return junkFor(method)
  }
}

function dearer(method: string, result: unknown): unknown {
  if (method === 'eth_gasPrice' || method === 'eth_maxPriorityFeePerGas') return times(result)
  if (method !== 'eth_feeHistory' || !isObject(result)) return result
  const { baseFeePerGas, reward } = result as { baseFeePerGas: string[]; reward?: string[][] }
  return { ...result, baseFeePerGas: baseFeePerGas.map(times), ...(reward && { reward: reward.map((row) => row.map(times)) }) }
}

function higher(method: string, result: unknown): unknown {
  if (method === 'eth_blockNumber' && typeof result === 'string') return plus(result, inventedBlocks)
  if (!method.startsWith('eth_getBlockBy') || !isObject(result)) return result
  const { number } = result as { number: string }
  return { ...result, number: plus(number, inventedBlocks), hash: hexlify(randomBytes(32)), parentHash: keccak256(toBeHex(number, 32)) }
}

function otherWord(result: unknown): unknown {
  if (typeof result !== 'string' || result.length !== 66) return result
  return toBeHex(BigInt(result) === 0n ? 1 : 0, 32)
}

/** The length of the method's name chooses the answer, so that a repeated run has the same answers. */
function junkFor(method: string): unknown {
  return [null, {}, '0x'][method.length % 3]
}

function times(quantity: unknown): unknown {
  return typeof quantity === 'string' ? toQuantity(BigInt(quantity) * priceFactor) : quantity
}

function plus(quantity: string, more: bigint): string {
  return toQuantity(BigInt(quantity) + more)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
