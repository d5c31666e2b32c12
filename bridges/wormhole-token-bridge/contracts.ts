import { Interface } from 'ethers'
import type { At } from '../../chains/port.ts'
import { remember } from '../../runtime/remember.ts'
import { type ContractReader, read } from '../kit/contract-reader.ts'

/** From ITokenBridge.sol. */
export const tokenBridgeAbi = new Interface([
  'function bridgeContracts(uint16 chainId) view returns (bytes32)',
  'function isTransferCompleted(bytes32 hash) view returns (bool)',
  'function WETH() view returns (address)',
  'function wrappedAsset(uint16 tokenChainId, bytes32 tokenAddress) view returns (address)',
  'function completeTransfer(bytes encodedVm)',
  'function completeTransferAndUnwrapETH(bytes encodedVm)',
])

export async function isCompleted(chain: ContractReader, tokenBridge: string, digest: string, at: At): Promise<boolean> {
  const [completed] = await read(chain, { abi: tokenBridgeAbi, to: tokenBridge, method: 'isTransferCompleted', args: [digest], at })
  return completed === true
}

export const unregistered = '0'.repeat(64)

export type TokenBridgeReads = ReturnType<typeof createTokenBridgeReads>

/** A cached lie would last as long as the process, so most nodes are read. */
const lasting = 'majority-latest'

export function createTokenBridgeReads(chain: ContractReader, tokenBridge: string) {
  const ask = async (method: string, args: readonly unknown[], at: At) =>
    String((await read(chain, { abi: tokenBridgeAbi, to: tokenBridge, method, args, at }))[0]).toLowerCase()
  const emitters = remember(
    async (wormholeChain: number) => (await ask('bridgeContracts', [wormholeChain], lasting)).slice(2),
    (answer) => answer !== unregistered,
  )
  const coin = remember(() => ask('WETH', [], lasting))
  return {
    emitter: emitters.get,
    /** By most nodes, for use before a message is refused because of its emitter. */
    agreedEmitter: async (wormholeChain: number) => (await ask('bridgeContracts', [wormholeChain], 'agreed-latest')).slice(2),
    weth: () => coin.get('WETH'),
  }
}
