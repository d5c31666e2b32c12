import { id } from 'ethers'
import { LRUCache } from 'lru-cache'
import type { Intent } from '../../domain/intent.ts'
import { decodeBytesCall } from '../kit/bytes-call.ts'
import { justifiedBy, unjustified } from '../kit/justify.ts'
import { contractOf } from './message.ts'
import type { PolicyOptions, Proof } from './validate.ts'
import { refusals } from './verify.ts'

/** Of the few functions that a config names. */
const selectors = new LRUCache<string, string>({ max: 1_000, memoMethod: (signature) => id(signature).slice(0, 10) })

/** The functions of the token bridge that deliver: each takes the signed VAA alone. */
export const completions = ['completeTransfer(bytes)', 'completeTransferAndUnwrapETH(bytes)'].map(selectorOf)

/** See `Endpoint.justify`: the call carries exactly one VAA, which guardians signed, and the function of the contract that delivers its kind of payload. */
export function createJustify(tokenBridge: string, calls: PolicyOptions['calls'], prove: Proof) {
  return async function justify({ to, data, value }: Intent): Promise<void> {
    const contract = to.toLowerCase()
    const selector = data.slice(0, 10).toLowerCase()
    const vaa = decodeBytesCall(data)
    if (value !== '0') throw unjustified('It carries coins.', { to, value })
    if (!vaa) throw unjustified('It is no exactly encoded call with one VAA.', { to, selector })
    const { transfer } = await justifiedBy(() => prove(vaa), refusals)
    const { kind } = transfer
    const recipient = contractOf(transfer.recipient)
    const call = calls?.[recipient]
    const redeems = call !== undefined && contract === recipient && selector === selectorOf(call)
    if (kind === 3 ? redeems : contract === tokenBridge && completions.includes(selector)) return
    throw unjustified('It is not the call that delivers this payload.', { to, selector, kind, recipient })
  }
}

/** The first four bytes of a function's hash, 0x. */
export function selectorOf(signature: string): string {
  return selectors.memo(signature)
}
