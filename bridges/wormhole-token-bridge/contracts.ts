import { Interface } from 'ethers'
import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'

/** The parts of the two contracts that are read or called (IWormhole.sol, ITokenBridge.sol). */
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

/** What reads of a contract need of a chain. */
export interface ContractReader {
  readonly name: string
  /** eth_call: 0x hex. Throws NODE_UNAVAILABLE, NODE_REFUSED. */
  call(to: string, data: string, at: At): Promise<string>
}

/** One value of a view function. Throws NODE_REFUSED if the address does not answer as the contract does (a wrong address in the config). */
export async function read(
  chain: ContractReader,
  to: string,
  abi: Interface,
  method: string,
  args: readonly unknown[],
  at: At = 'latest',
): Promise<unknown> {
  const answer = await chain.call(to, abi.encodeFunctionData(method, args), at)
  try {
    return abi.decodeFunctionResult(method, answer)[0]
  } catch (cause) {
    const detail = `${to} does not answer ${method} as the Wormhole contract does: check its address in the config.`
    throw new RelayerError('NODE_REFUSED', { detail, facts: { chain: chain.name }, cause })
  }
}
