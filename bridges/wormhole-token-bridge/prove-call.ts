import type { Intent } from '../../domain/intent.ts'
import { provedBy, unproved } from '../kit/verdict.ts'
import { completions, decodeBytesCall, selectorOf } from './calls.ts'
import { contractOf } from './message.ts'
import type { PolicyOptions, Proof } from './validate.ts'
import { refusals } from './verify.ts'

/** See `Endpoint.proveCall`: one VAA that guardians signed, and a function that delivers its payload. */
export function createProveCall(tokenBridge: string, calls: PolicyOptions['calls'], prove: Proof) {
  return async function proveCall({ to, data, value }: Intent): Promise<void> {
    const contract = to.toLowerCase()
    const selector = data.slice(0, 10).toLowerCase()
    const vaa = decodeBytesCall(data)
    if (value !== '0') throw unproved('It carries coins.', { to, value })
    if (!vaa) throw unproved('It is no exactly encoded call with one VAA.', { to, selector })
    const { transfer } = await provedBy(() => prove(vaa), refusals)
    const { kind } = transfer
    const recipient = contractOf(transfer.recipient)
    const call = calls?.[recipient]
    const redeems = call !== undefined && contract === recipient && selector === selectorOf(call)
    if (kind === 3 ? redeems : contract === tokenBridge && completions.includes(selector)) return
    throw unproved('It is not the call that delivers this payload.', { to, selector, kind, recipient })
  }
}
