import { createHash } from 'node:crypto'
import { encoding } from '@wormhole-foundation/sdk-base'

/**
 * Emitter caps of the token bridges on Sui: objects that were made when the contracts were published, which the SDK's tables lack. From Wormhole's own lists of known
 * emitters (sdk/mainnet_consts.go and sdk/testnet_consts.go of wormhole-foundation/wormhole).
 */
const suiEmitters: Readonly<Record<string, string>> = {
  '0xc57508ee0d4595e5a8728974a4a93a787d38f339757230d441e895422c07aba9': 'ccceeb29348f71bdd22ffef43a2a19c1f5b5e17c5cca5411529120182672ade5',
  '0x6fb10cdb7aa299e9a4308752dadecb049ff55a892de92992a1edbd7912b3d6da': '40440411a170b4842ae7dee4f4a7b7a58bc0a98566e998850a7bb87bf5dc05b9',
}

/**
 * The emitter address in the messages of a token bridge, 64 lower-case hex digits. Each platform makes it in its own way from the address of the contract
 * (docs of Wormhole, "Emitter address"). Throws for a platform or a Sui contract that is not known here.
 */
export function emitterOf(platform: string, tokenBridge: string): string {
  switch (platform) {
    case 'Evm':
      return tokenBridge.slice(2).toLowerCase().padStart(64, '0')
    case 'Solana':
      return hex(programAddress('emitter', encoding.b58.decode(tokenBridge)))
    case 'Cosmwasm':
      return hex(encoding.bech32.fromWords(encoding.bech32.decodeUnsafe(tokenBridge, 1_000)!.words)).padStart(64, '0')
    case 'Near':
      return hex(createHash('sha256').update(tokenBridge).digest())
    case 'Algorand': {
      const app = Buffer.alloc(8)
      app.writeBigUInt64BE(BigInt(tokenBridge))
      return hex(createHash('sha512-256').update('appID').update(app).digest())
    }
    case 'Aptos':
      // Emitters are numbered; the token bridge is the first of each network.
      return '1'.padStart(64, '0')
    case 'Sui':
      if (suiEmitters[tokenBridge]) return suiEmitters[tokenBridge]
  }
  throw new Error(
    `how the token bridge ${tokenBridge} of ${platform} is named as an emitter is not known: scripts/docs/wormhole-emitters.ts`,
  )
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** Solana's address that a program owns: the first hash, from the bump 255 down, that is no point of the curve. */
function programAddress(seed: string, program: Uint8Array): Uint8Array {
  for (let bump = 255; bump >= 0; bump--) {
    const hash = createHash('sha256').update(seed).update(Uint8Array.of(bump)).update(program).update('ProgramDerivedAddress').digest()
    if (!isOnCurve(hash)) return hash
  }
  throw new Error('no address')
}

const prime = 2n ** 255n - 19n

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base % prime]
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % prime
    square = (square * square) % prime
  }
  return result
}

/** Whether 32 bytes are a compressed point of edwards25519: x² = (y² − 1) / (d y² + 1) has a root. */
function isOnCurve(bytes: Uint8Array): boolean {
  const y = BigInt(`0x${hex(Uint8Array.from(bytes).reverse())}`) & (2n ** 255n - 1n)
  const d = (prime - 121_665n) * power(121_666n, prime - 2n)
  const square = ((y * y - 1n + prime) * power(d * y * y + 1n, prime - 2n)) % prime
  return power(square, (prime - 1n) / 2n) !== prime - 1n
}
