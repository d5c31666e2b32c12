import { id, Interface } from 'ethers'
import type { At } from '../../chains/port.ts'
import { remember } from '../../runtime/remember.ts'
import { type ContractReader, read } from '../kit/contract-reader.ts'
import { LRUCache } from 'lru-cache'

/** From IWormhole.sol, ITokenBridge.sol. */
export const coreAbi = new Interface([
  'function getCurrentGuardianSetIndex() view returns (uint32)',
  'function getGuardianSet(uint32 index) view returns (tuple(address[] keys, uint32 expirationTime))',
  'function nextSequence(address emitter) view returns (uint64)',
  'event LogMessagePublished(address indexed sender, uint64 sequence, uint32 nonce, bytes payload, uint8 consistencyLevel)',
])

export const tokenBridgeAbi = new Interface([
  'function bridgeContracts(uint16 chainId) view returns (bytes32)',
  'function isTransferCompleted(bytes32 hash) view returns (bool)',
  'function WETH() view returns (address)',
  'function completeTransfer(bytes encodedVm)',
  'function completeTransferAndUnwrapETH(bytes encodedVm)',
])

/** Throws what `read` throws. */
export async function isCompleted(chain: ContractReader, tokenBridge: string, digest: string, at: At): Promise<boolean> {
  const [completed] = await read(chain, { abi: tokenBridgeAbi, to: tokenBridge, method: 'isTransferCompleted', args: [digest], at })
  return completed === true
}

/** The answer for a chain without a registered token bridge. */
export const unregistered = '0'.repeat(64)

export type TokenBridgeReads = ReturnType<typeof createTokenBridgeReads>

/** Cached answers are read from most nodes, since a lie would last as long as the process. */
const lasting = 'majority-latest'

/** Reads whose answers never change. Each read is made once, from most nodes. */
export function createTokenBridgeReads(chain: ContractReader, tokenBridge: string) {
  const ask = async (method: string, args: readonly unknown[], at: At) =>
    String((await read(chain, { abi: tokenBridgeAbi, to: tokenBridge, method, args, at }))[0]).toLowerCase()
  const emitters = remember(
    async (wormholeChain: number) => (await ask('bridgeContracts', [wormholeChain], lasting)).slice(2),
    (answer) => answer !== unregistered,
  )
  const coin = remember(() => ask('WETH', [], lasting))
  return {
    /** 64 hex digits. `unregistered` is not cached. */
    emitter: emitters.get,
    /** Reads the emitter again, before a message is refused because of the emitter. */
    agreedEmitter: async (wormholeChain: number) => (await ask('bridgeContracts', [wormholeChain], 'agreed-latest')).slice(2),
    weth: () => coin.get('WETH'),
  }
}

const selectors = new LRUCache<string, string>({ max: 1_000, memoMethod: (signature) => id(signature).slice(0, 10) })

/** 0x and 8 hex digits. */
export function selectorOf(signature: string): string {
  return selectors.memo(signature)
}

/** The delivering functions. Each takes only the signed VAA. */
export const completions = ['completeTransfer(bytes)', 'completeTransferAndUnwrapETH(bytes)'].map(selectorOf)

/** ABI offset of the bytes, one word. The next word is their length. */
const offset = '20'.padStart(64, '0')
const headDigits = 10 + 2 * 64

/** ABI encoding of `name(bytes)`, 0x. ethers would take a hundred times as long, several times per delivery. */
export function encodeBytesCall(selector: string, argument: Uint8Array): string {
  const digits = Buffer.from(argument).toString('hex')
  return `${selector.toLowerCase()}${offset}${argument.length.toString(16).padStart(64, '0')}${digits.padEnd(paddedDigits(argument.length), '0')}`
}

/** Undefined unless the data is byte for byte what `encodeBytesCall` makes. */
export function decodeBytesCall(data: string): Uint8Array | undefined {
  const text = data.toLowerCase()
  if (!/^0x[0-9a-fA-F]*$/.test(data) || text.length < headDigits || text.slice(10, 74) !== offset) return undefined
  // No length needs more than 48 bits.
  if (!/^0{52}/.test(text.slice(74, headDigits))) return undefined
  const length = Number.parseInt(text.slice(74, headDigits), 16)
  const end = headDigits + 2 * length
  if (text.length !== headDigits + paddedDigits(length) || /[^0]/.test(text.slice(end))) return undefined
  return Buffer.from(text.slice(headDigits, end), 'hex')
}

function paddedDigits(length: number): number {
  return Math.ceil(length / 32) * 64
}
