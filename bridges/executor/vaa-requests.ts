import { RelayerError } from '../../domain/catalogue/errors.ts'
import { mostMessageBytes } from '../../domain/transfer/transfer.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { boundedMap } from '../../runtime/bounded-map.ts'
import { shows } from '../kit/views.ts'
import type { ContractReader } from '../kit/contract-reader.ts'
import { attestByVaa, type FindVaa, type MessagePlace } from '../kit/find-vaa.ts'
import { unlessRefused } from '../kit/verdict.ts'
import { intentOf, shownOf } from './calls.ts'
import { addressOf, type TargetContracts } from './judge.ts'
import { executorRefusals, type RequestKind } from './kinds.ts'
import { type ExecutorMessage, writeMessage } from './message.ts'
import { decodeRequest } from './requests.ts'

export interface VaaRequestsOptions extends TargetContracts {
  readonly chain: ContractReader
  readonly verify: (vaa: Uint8Array) => Promise<void>
  readonly findVaa: FindVaa
}

/** Maximum size of the messages that are remembered for each target chain, bytes. */
export const foundBytes = 16 * 1_048_576

/** Delivers ERV1 requests: any VAA, to the contract that the request names. */
export function createVaaRequests(options: VaaRequestsOptions): RequestKind {
  const { chain, verify, findVaa } = options
  /** Place of a message → its VAA. */
  const found = boundedMap<string, Uint8Array>(foundBytes, 0, ({ length }) => length)

  /** Returns the attested VAA of a request or, if the request has none, a valid VAA from the APIs. */
  async function vaaOf({ attested: [vaa], request }: ExecutorMessage): Promise<Uint8Array | undefined> {
    const asked = decodeRequest(request.request)
    if (asked?.prefix !== 'ERV1') return undefined
    if (vaa) return isOf(vaa, asked) ? vaa : undefined
    const place = `${asked.chain}/${asked.emitter}/${asked.sequence}`
    const known = found.get(place)
    if (known) return known
    const answer = await unlessRefused(findVaa(asked, verify), executorRefusals)
    if (answer.kind !== 'found' || answer.vaa.length > mostMessageBytes) return undefined
    found.set(place, answer.vaa)
    return answer.vaa
  }

  /** Undefined if no API has a valid VAA, or if the contract is no longer in the config. */
  async function viewOf(message: ExecutorMessage) {
    const bytes = await vaaOf(message)
    return bytes && shownOf(options, message, bytes)
  }

  async function prove({ attested: [vaa], request }: ExecutorMessage): Promise<void> {
    const asked = decodeRequest(request.request)
    if (asked?.prefix !== 'ERV1' || !vaa)
      throw new RelayerError('EXECUTOR_UNSUPPORTED', { detail: 'It has no VAA that Portage can carry.' })
    if (!isOf(vaa, asked)) throw new RelayerError('MESSAGE_MISMATCH', { detail: 'The VAA is not the one that the request asks for.' })
    await verify(vaa)
  }

  return {
    async attest(message) {
      const asked = decodeRequest(message.request.request)
      if (message.attested.length > 0 || asked?.prefix !== 'ERV1') return undefined
      const answer = await attestByVaa(findVaa, verify, asked)
      return answer.kind === 'wait' ? answer : { ...answer, message: writeMessage({ ...message, attested: [answer.message] }) }
    },
    async validate(message) {
      await prove(message)
      return { kind: 'valid' }
    },
    prove,
    intentOf: async (message, wanted) => intentOf(options, message, wanted),
    async delivered(message, at) {
      const shown = await viewOf(message)
      return shown ? shows(chain, shown, at) : false
    },
    mayShow: async (message) => (await viewOf(message)) !== undefined,
    partiesOf: vaaPartiesOf,
    // There is no `findDelivery`, because a view does not show who delivered.
    revertsOnceDelivered: false,
    explainRevert: ({ reason }) => ({ kind: 'unknown', code: 'DELIVERY_REVERTED', reason }),
    hasEffect: ({ status }) => (status === 'success' ? undefined : false),
  }
}

/** Whether the VAA, whose signatures may be wrong, is from this place. Throws VAA_*. */
function isOf(vaa: Uint8Array, asked: MessagePlace): boolean {
  const { emitterChain, emitter, sequence } = parseVaa(vaa)
  return emitterChain === asked.chain && emitter === asked.emitter && sequence === asked.sequence
}

export function vaaPartiesOf({ request }: ExecutorMessage): { readonly recipient: string; readonly token: string } {
  const asked = decodeRequest(request.request)
  const token = asked?.prefix === 'ERV1' ? `${asked.chain}/${asked.emitter}` : ''
  return { recipient: addressOf(request.targetAddress) ?? request.targetAddress, token }
}
