import { id } from 'ethers'
import { encodeCall } from '../../bridges/kit/calls.ts'
import { readView } from '../../bridges/kit/views.ts'
import type { ConfiguredChain } from '../../chains/registry.ts'
import type { ExecutorSettings } from '../../config/executor.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { fail, type Finding, orError } from './check.ts'

type Target = ExecutorSettings['chains'] extends ReadonlyMap<number, infer One> ? One : never
type Reader = Pick<ConfiguredChain, 'name' | 'call' | 'hasCode' | 'simulate'>

const anyone = `0x${'11'.repeat(20)}`
const nothing = new Uint8Array()
const remedy = 'Correct the address. Until then deliveries that need this contract revert, or are never shown.'

/**
 * For the contracts that pay drop-offs of the kinds ERV1 and ERN1: a wrong call, and the error by which the right
 * contract refuses the call. Contracts of the other kinds are checked by a view.
 */
const wrongCalls = {
  ERV1: {
    call: { function: 'receiveMessage(address,bytes,address,uint256)', args: [anyone, nothing, anyone, 1n] },
    error: 'InvalidMsgValue(uint256,uint256)',
  },
  ERN1: {
    call: { function: 'receiveMessages(address[],bytes[],address)', args: [[anyone], [], anyone] },
    error: 'InvalidParameters(uint256,uint256)',
  },
} as const

/** The contracts that deliveries of requests to this chain use, each with its check. */
export function targetChecks(
  reader: Reader,
  { receivers, dropOffContracts, recordContract }: Target,
  { bridges: { cctp } }: Pick<Config, 'bridges'>,
): readonly (readonly [name: string, check: () => Promise<Finding>])[] {
  const withCode = (contract: string, more: () => Promise<Finding>) => async () =>
    (await reader.hasCode(contract)) ? more() : fail(`${contract} has no code on ${reader.name}`, remedy)
  const { ERV1, ERN1, ERC1, ERC2 } = dropOffContracts
  const own = cctp?.chains[reader.name]
  return [
    ...Object.keys(receivers).map((contract) => [`receiver ${contract}`, withCode(contract, async () => contract)] as const),
    ...(recordContract ? [['recordContract', withCode(recordContract, () => recordFinding(reader, recordContract))] as const] : []),
    ...(ERV1 ? [['dropOffContract', withCode(ERV1, () => wrongCallFinding(reader, 'ERV1', ERV1))] as const] : []),
    ...(ERN1 ? [['nttDropOffContract', withCode(ERN1, () => wrongCallFinding(reader, 'ERN1', ERN1))] as const] : []),
    ...(ERC1 ? [['cctpV1DropOffContract', withCode(ERC1, () => transmitterFinding(reader, ERC1, own?.v1))] as const] : []),
    ...(ERC2 ? [['cctpV2DropOffContract', withCode(ERC2, () => transmitterFinding(reader, ERC2, own?.v2))] as const] : []),
  ]
}

async function recordFinding(reader: Reader, contract: string): Promise<Finding> {
  const view = { contract, view: 'isDelivered(bytes32)', args: [`0x${'00'.repeat(32)}`], returns: 'bool' }
  const answer = await orError(readView(reader, view, 'latest'), 'NODE_REFUSED')
  return answer instanceof RelayerError || answer[0] !== false ? fail(`${contract} is no DeliveryRecord`, remedy) : contract
}

async function wrongCallFinding(reader: Reader, kind: keyof typeof wrongCalls, contract: string): Promise<Finding> {
  const { call, error } = wrongCalls[kind]
  const answer = await reader.simulate({ to: contract, data: encodeCall(call), value: '0' }, anyone)
  const isExpected = !answer.ok && answer.revert.data.startsWith(id(error).slice(0, 10))
  return isExpected ? contract : fail(`${contract} does not answer ${call.function} as the contract that pays drop-offs of ${kind}`, remedy)
}

async function transmitterFinding(
  reader: Reader,
  contract: string,
  own: { readonly messageTransmitter: string } | undefined,
): Promise<Finding> {
  const view = { contract, view: 'circleMessageTransmitter()', args: [], returns: 'address' }
  const answer = await orError(readView(reader, view, 'latest'), 'NODE_REFUSED')
  if (answer instanceof RelayerError) return fail(`${contract} names no MessageTransmitter`, remedy)
  const named = String(answer[0]).toLowerCase()
  return named === own?.messageTransmitter.toLowerCase()
    ? contract
    : fail(`${contract} delivers to ${named}, and bridges.cctp has ${own?.messageTransmitter ?? 'no such version'}`, remedy)
}
