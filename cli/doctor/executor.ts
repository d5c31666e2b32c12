import { id } from 'ethers'
import { executorAbi } from '../../bridges/executor/event.ts'
import { encodeCall } from '../../bridges/kit/calls.ts'
import { type ContractReader, read } from '../../bridges/kit/contract-reader.ts'
import { type ConfiguredChain, createQuoteSigner } from '../../chains/registry.ts'
import { executorOf, type ExecutorSettings } from '../../config/executor.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { keyFindings } from './chains.ts'
import { type ChainCheck, type Check, checkOf, fail, type Finding, look, lookOnChains, orError, viewsOf, warn } from './check.ts'

const area = 'bridge executor'

export async function checkExecutor(config: Config): Promise<Check[]> {
  const settings = executorOf(config)
  if (!settings) return []
  const key = look(area, `key of ${settings.quoter}`, () => checkQuoter(settings))
  const checks = [...settings.chains].flatMap(([number, target]): ChainCheck[] => {
    const { name: chain, contract } = target
    return [
      { chain, area, name: `contract on ${chain}`, at: (reader) => contractFinding(reader, contract, number) },
      ...targetChecks(target, config).map(([name, at]) => ({ chain, area, name: `${name} on ${chain}`, at })),
    ]
  })
  return [...(await Promise.all([key, lookOnChains(config, checks)])).flat(), ...checkBaseFees(config)]
}

/** Warns of chains without a base fee, because requests for targets with cheap gas then cost nearly nothing. */
export function checkBaseFees({ bridges }: Pick<Config, 'bridges'>): Check[] {
  return Object.entries(bridges.executor?.chains ?? {}).flatMap(([name, { baseFee }]) => {
    if (BigInt(baseFee) > 0n) return []
    const detail = `requests on ${name} pay only for their gas, so dust costs you`
    return [checkOf(area, `base fee on ${name}`, warn(detail, 'Set baseFee of this chain to what a request costs you in addition to gas.'))]
  })
}

/** Checks that the key signs. The signed bytes are not a quote, so the signature is harmless. */
export async function checkQuoter({ quoter, signer }: Pick<ExecutorSettings, 'quoter' | 'signer'>): Promise<Finding> {
  if (!signer) return 'not on this machine'
  const sign = await createQuoteSigner(signer, quoter)
  await sign(Buffer.from('portage doctor'))
  return keyFindings[signer.kind]
}

export async function contractFinding(reader: ContractReader, contract: string, expected: number): Promise<Finding> {
  const remedy = 'Correct contract of this chain: no request of another contract is found.'
  const answer = await orError(read(reader, { abi: executorAbi, to: contract, method: 'ourChain' }), 'NODE_REFUSED')
  if (answer instanceof RelayerError) return fail(`${contract} is not an Executor contract: ${answer.about}`, remedy)
  const [actual] = answer
  return Number(actual) === expected ? contract : fail(`${contract} belongs to Wormhole chain ${actual}, not ${expected}`, remedy)
}

type Target = ExecutorSettings['chains'] extends ReadonlyMap<number, infer One> ? One : never
type Reader = Pick<ConfiguredChain, 'name' | 'call' | 'hasCode' | 'simulate'>

const anyone = `0x${'11'.repeat(20)}`
const nothing = new Uint8Array()
const addressRemedy = 'Correct the address. Until then deliveries that need this contract revert, or are never shown.'

/** Wrong calls, and the errors by which the right contract refuses them. */
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

/** Contracts through which Portage delivers Executor requests on the target, each with its check. */
export function targetChecks(
  { name: chain, receivers, dropOffContracts, recordContract }: Target,
  { bridges: { cctp } }: Pick<Config, 'bridges'>,
): readonly (readonly [name: string, check: (reader: Reader) => Promise<Finding>])[] {
  const { ERV1, ERN1, ERC1, ERC2 } = dropOffContracts
  const own = cctp?.chains[chain]
  type Find = (reader: Reader, contract: string) => Promise<Finding>
  const checks: readonly (readonly [name: string, contract: string | undefined, find: Find])[] = [
    ...Object.keys(receivers).map((contract) => [`receiver ${contract}`, contract, async () => contract] as const),
    ['recordContract', recordContract, recordFinding],
    ['dropOffContract', ERV1, (reader, at) => wrongCallFinding(reader, 'ERV1', at)],
    ['nttDropOffContract', ERN1, (reader, at) => wrongCallFinding(reader, 'ERN1', at)],
    ['cctpV1DropOffContract', ERC1, (reader, at) => transmitterFinding(reader, at, own?.v1)],
    ['cctpV2DropOffContract', ERC2, (reader, at) => transmitterFinding(reader, at, own?.v2)],
  ]
  return checks.flatMap(([name, contract, find]) => {
    if (contract === undefined) return []
    const noCode = fail(`${contract} has no code on ${chain}`, addressRemedy)
    return [[name, async (reader: Reader) => ((await reader.hasCode(contract)) ? find(reader, contract) : noCode)] as const]
  })
}

async function recordFinding(reader: Reader, contract: string): Promise<Finding> {
  const answer = await orError(viewsOf(reader)(contract, 'isDelivered(bytes32)', 'bool', `0x${'00'.repeat(32)}`), 'NODE_REFUSED')
  return answer === false ? contract : fail(`${contract} is not a DeliveryRecord`, addressRemedy)
}

async function wrongCallFinding(reader: Reader, kind: keyof typeof wrongCalls, contract: string): Promise<Finding> {
  const { call, error } = wrongCalls[kind]
  const answer = await reader.simulate({ to: contract, data: encodeCall(call), value: '0' }, anyone)
  const isExpected = !answer.ok && answer.revert.data.startsWith(id(error).slice(0, 10))
  return isExpected
    ? contract
    : fail(`${contract} does not answer ${call.function} as the contract that pays drop-offs of ${kind}`, addressRemedy)
}

async function transmitterFinding(
  reader: Reader,
  contract: string,
  own: { readonly messageTransmitter: string } | undefined,
): Promise<Finding> {
  const answer = await orError(viewsOf(reader)(contract, 'circleMessageTransmitter()', 'address'), 'NODE_REFUSED')
  if (answer instanceof RelayerError) return fail(`${contract} does not name a MessageTransmitter`, addressRemedy)
  const named = String(answer).toLowerCase()
  return named === own?.messageTransmitter.toLowerCase()
    ? contract
    : fail(`${contract} delivers to ${named}, and bridges.cctp has ${own?.messageTransmitter ?? 'no such version'}`, addressRemedy)
}
