import { Interface } from 'ethers'
import type { Revert } from '../../chains/port.ts'
import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import { parseRevert } from '../kit/contract-reader.ts'
import type { RevertMeaning } from '../port.ts'

interface Row {
  readonly text: string
  /** Selector of the custom error that replaced the text (token bridge since 2026-05). */
  readonly selector?: string
  readonly means: RevertMeaning['kind']
  readonly code?: ErrorCode
  readonly say?: string
}

/** From Bridge.sol and Messages.sol. */
const rows: readonly Row[] = [
  { text: 'transfer already completed', selector: '0x2ef04c88', means: 'delivered' },
  { text: 'no wrapper for this token created yet', selector: '0x1a0ee8b6', means: 'wait', code: 'WRAPPER_MISSING' },
  { text: 'bridgepaused', selector: '0xa792dfa3', means: 'wait', code: 'BRIDGE_PAUSED', say: 'the token bridge is paused' },
  { text: 'invalid guardian set', means: 'wait', code: 'GUARDIAN_SET_UNKNOWN' },
  { text: 'invalid emitter', selector: '0x2c6bb355', means: 'permanent', code: 'EMITTER_UNKNOWN' },
  { text: 'invalid target chain', selector: '0x376f6e4a', means: 'permanent', code: 'DELIVERY_IMPOSSIBLE' },
  { text: 'invalid sender', selector: '0xddb5de5e', means: 'permanent', code: 'PAYLOAD_WITH_CALL' },
  { text: 'can only unwrap weth', selector: '0x01f180c9', means: 'permanent', code: 'DELIVERY_IMPOSSIBLE' },
  { text: 'invalid fork', selector: '0xea03b6eb', means: 'permanent', code: 'DELIVERY_IMPOSSIBLE' },
  { text: 'fee higher than transferred amount', means: 'permanent', code: 'DELIVERY_IMPOSSIBLE' },
  { text: 'invalid evm address', means: 'permanent', code: 'DELIVERY_IMPOSSIBLE' },
  { text: 'vm version incompatible', means: 'permanent', code: 'VAA_VERSION' },
  { text: 'guardian set has expired', means: 'permanent', code: 'GUARDIAN_SET_EXPIRED' },
  { text: 'no quorum', means: 'permanent', code: 'VAA_NO_QUORUM' },
  { text: 'vm signature invalid', means: 'permanent', code: 'VAA_SIGNATURE_INVALID' },
  { text: 'guardian index out of bounds', means: 'permanent', code: 'VAA_GUARDIAN_INDEX' },
  { text: 'signature indices must be ascending', means: 'permanent', code: 'VAA_SIGNATURE_ORDER' },
]

/**
 * Meanings that also count if the call runs a stranger's code, because they concern only the transfer. The other
 * meanings do not count in such a call: Portage itself checks signatures, guardian sets and emitters.
 */
const ofTransfer: ReadonlySet<ErrorCode | undefined> = new Set(['WRAPPER_MISSING', 'DELIVERY_IMPOSSIBLE', 'PAYLOAD_WITH_CALL'])

const panicOverflow = 0x11n
/** ethers knows Error(string) and Panic(uint256) without an ABI. */
const builtIn = new Interface([])

/**
 * Interprets a revert by its bytes or, if the bytes are not a known error, by its text.
 * @param isOfOthers whether the call runs a stranger's code, so that its revert says nothing about bridge and guardians
 */
export function explainRevert({ data, reason }: Revert, isOfOthers = false): RevertMeaning {
  const error = parseRevert(builtIn, data)
  if (error?.name === 'Panic' && error.args[0] === panicOverflow) {
    // The bridge holds too little of its native token (outstandingBridged < amount), until somebody locks more.
    return { kind: 'wait', code: 'DELIVERY_REVERTED', reason: 'the token bridge holds less of this token than the amount (panic 0x11)' }
  }
  const selector = data.slice(0, 10).toLowerCase()
  const text = error?.name === 'Error' ? String(error.args[0]) : reason
  const row = rows.find((each) => each.selector === selector) ?? rows.find((each) => text.toLowerCase().includes(each.text))
  if (row?.means === 'delivered') return { kind: 'delivered' }
  if (!row || (isOfOthers && !ofTransfer.has(row.code))) return { kind: 'unknown', code: 'DELIVERY_REVERTED', reason: text }
  return { kind: row.means, code: row.code ?? 'DELIVERY_REVERTED', reason: row.say ?? (row.selector === selector ? row.text : text) }
}
