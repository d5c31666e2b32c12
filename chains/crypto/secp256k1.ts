import type { Secp256k1 } from './curve.ts'
import { native } from './native.ts'
import { pure } from './pure.ts'

let chosen: Secp256k1 | undefined

/** The native library where this platform has a working build, else the pure implementation. */
export function secp256k1(): Secp256k1 {
  return (chosen ??= native() ?? pure())
}
