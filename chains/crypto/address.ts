import { keccak256 } from 'ethers'

/** The address of an uncompressed public key of 65 bytes: 0x, lower case. */
export function addressOfKey(publicKey: Uint8Array): string {
  return `0x${keccak256(publicKey.subarray(1)).slice(-40)}`
}
