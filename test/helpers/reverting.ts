import { AbiCoder, hexlify, randomBytes } from 'ethers'
import type { Anvil } from '../../lab/devnet/chain/anvil.ts'

/** Puts a contract at a fresh address that reverts every call, with the bytes of `reason` or with Error(string). */
export async function deployReverting(anvil: Pick<Anvil, 'rpc'>, reason: string): Promise<{ address: string }> {
  const data = reason.startsWith('0x') ? reason.slice(2) : `08c379a0${AbiCoder.defaultAbiCoder().encode(['string'], [reason]).slice(2)}`
  const size = (data.length / 2).toString(16).padStart(4, '0')
  // PUSH2 size, PUSH1 offset of the data, PUSH1 0, CODECOPY; PUSH2 size, PUSH1 0, REVERT; STOP; the data.
  const code = `0x61${size}600f600039 61${size}6000fd 00 ${data}`.replaceAll(' ', '')
  const address = hexlify(randomBytes(20))
  await anvil.rpc('anvil_setCode', [address, code])
  return { address }
}
