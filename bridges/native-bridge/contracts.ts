import { Interface } from 'ethers'
import type { At } from '../../chains/port.ts'
import { type ContractReader, read } from '../kit/contract-reader.ts'
import { createDecimals } from '../kit/decimals.ts'
import type { NativeRoute, NativeTransfer } from './message.ts'

/** From MOV's INativeBridge.sol (with its spelling), OpenZeppelin and ERC-6093. */
export const nativeBridgeAbi = new Interface([
  'event BridgeTransferInitiated(bytes32 indexed bridgeTransferId, address indexed originator, bytes32 indexed recipient, uint256 amount, uint256 nonce)',
  'event BridgeTransferCompleted(bytes32 indexed bridgeTransferId, bytes32 indexed originator, address indexed recipient, uint256 amount, uint256 nonce)',
  'function completeBridgeTransfer(bytes32 bridgeTransferId, bytes32 initiator, address recipient, uint256 amount, uint256 nonce)',
  'function batchCompleteBridgeTransfer(bytes32[] bridgeTransferIds, bytes32[] initiators, address[] recipients, uint256[] amounts, uint256[] nonces)',
  'function noncesToOutboundTransfers(uint256 nonce) view returns (bytes32 bridgeTransferId, address initiator, bytes32 recipient, uint256 amount)',
  'function idsToInboundNonces(bytes32 bridgeTransferId) view returns (uint256 nonce)',
  'function inboundRateLimitBudget(uint256 day) view returns (uint256 used)',
  'function token() view returns (address)',
  'function insuranceFund() view returns (address)',
  'function riskDenominator() view returns (uint256)',
  'function paused() view returns (bool)',
  'function hasRole(bytes32 role, address account) view returns (bool)',
  'error ZeroAmount()',
  'error MOVETransferFailed()',
  'error ZeroAddress()',
  'error InvalidLenghts()',
  'error InvalidBridgeTransferId()',
  'error CompletedBridgeTransferId()',
  'error InvalidNonce()',
  'error OutboundRateLimitExceeded()',
  'error InboundRateLimitExceeded()',
  'error InvalidRiskDenominator()',
  'error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)',
  'error AccessControlBadConfirmation()',
  'error EnforcedPause()',
  'error ExpectedPause()',
  'error InvalidInitialization()',
  'error NotInitializing()',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InvalidReceiver(address receiver)',
])

export const tokenAbi = new Interface(['function balanceOf(address owner) view returns (uint256)'])

const nothing = `0x${'0'.repeat(64)}`

/**
 * Reads a transfer from the source's table. Undefined if the table has no such nonce. Does not check the transfer's id.
 * Throws the errors of `read`.
 */
export async function readOutbound(chain: ContractReader, bridge: string, nonce: bigint, at: At): Promise<NativeTransfer | undefined> {
  const entry = await read(chain, { abi: nativeBridgeAbi, to: bridge, method: 'noncesToOutboundTransfers', args: [nonce], at })
  const [id = '', initiator = '', recipient = ''] = entry.slice(0, 3).map((value) => String(value).toLowerCase())
  return id === nothing ? undefined : { id, initiator, recipient, amount: entry[3] as bigint, nonce }
}

type TokenRoute = Pick<NativeRoute, 'sourceChain' | 'targetChain' | 'targetBridge'> & { readonly target: ContractReader }

/**
 * Returns a function that reads the decimals of a message's amount, which are the decimals of the token that the route
 * pays.
 */
export function createTokenDecimals(routes: readonly TokenRoute[]) {
  const decimals = createDecimals()
  return async ({ sourceChain, targetChain }: Pick<NativeRoute, 'sourceChain' | 'targetChain'>): Promise<number | undefined> => {
    const route = routes.find((one) => one.sourceChain === sourceChain && one.targetChain === targetChain)
    if (!route) return undefined
    const { target: chain, targetBridge: to } = route
    return decimals(`${targetChain}/${to}`, async () => {
      const [address] = await read(chain, { abi: nativeBridgeAbi, to, method: 'token', at: 'majority-latest' })
      return { chain, address: String(address) }
    })
  }
}

/** Returns the nonce under which the target completed an id, 0 if it did not. Throws the errors of `read`. */
export async function readInboundNonce(chain: ContractReader, bridge: string, id: string, at: At): Promise<bigint> {
  const [nonce] = await read(chain, { abi: nativeBridgeAbi, to: bridge, method: 'idsToInboundNonces', args: [id], at })
  return nonce as bigint
}
