import { native } from './native.ts'
import type { Secp256k1 } from './port.ts'
import { pure } from './pure.ts'

let chosen: Secp256k1 | undefined

/** The native library where this platform has a build of it that works, else the pure one. Loaded when first asked for. */
export function secp256k1(): Secp256k1 {
  return (chosen ??= native() ?? pure())
}
