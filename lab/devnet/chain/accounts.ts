import { computeAddress, HDNodeWallet, hexlify, Mnemonic, randomBytes } from 'ethers'

/** DEVNET: anvil's test mnemonic. Its keys are public, so never fund them on a real network. */
export const devnetMnemonic = 'test test test test test test test test test test test junk'

/** The first guardian of Wormhole's own devnet. DEVNET: the key is public. */
const devnetGuardian0 = '0xcfb12303a19cde580bb4dd771639b0d26bc68353645571a8cff516ab2ee113a0'

export interface DevnetAccount {
  /** Lower-case 0x. */
  readonly address: string
  /** 0x hex, 32 bytes. */
  readonly privateKey: string
}

/**
 * Indexes of anvil's accounts (path m/44'/60'/0'/0/i) on the first chain. The second chain's account has the next
 * index. Each account has one job, so that no two jobs share a nonce.
 */
export const accountIndex = {
  /** Deploys contracts. Different accounts give the two chains' contracts different addresses. */
  deployer: 0,
  user: 2,
  outsider: 4,
  nativeUser: 6,
  nativeDeployer: 8,
  /** First lane of the first chain. The lanes of the second chain follow those of the first. */
  lane: 10,
  /** This index and all following ones are above the indexes of lanes. Anvil does not fund these accounts. */
  nttUser: 10_000,
  nttDeployer: 10_002,
  executorUser: 10_004,
  /** Signs quotes for both chains. Has no coins. */
  quoter: 10_006,
} as const

const root = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(devnetMnemonic), 'm')
const cache = new Map<string, DevnetAccount>()

export function devnetAccount(index: number): DevnetAccount {
  return derive(`m/44'/60'/0'/0/${index}`)
}

/** Guardian 0 has the key of Wormhole's own devnet. The others have the path m/44'/60'/1'/0/i. */
export function devnetGuardians(count: number): DevnetAccount[] {
  const [first, ...others] = Array.from({ length: count }, (_, index) => index)
  return first === undefined ? [] : [account(devnetGuardian0), ...others.map((index) => derive(`m/44'/60'/1'/0/${index}`))]
}

/** Keys of CCTP's attesters (path m/44'/60'/2'/0/i), in ascending order of their addresses, as attestations require. */
export function devnetAttesters(count: number): DevnetAccount[] {
  const all = Array.from({ length: count }, (_, index) => derive(`m/44'/60'/2'/0/${index}`))
  return all.sort((one, other) => (one.address < other.address ? -1 : 1))
}

/** Accounts that deploy CCTP and burn (path m/44'/60'/3'/0/i). Anvil does not fund them. */
export function devnetCctpAccounts(position: number): { readonly deployer: DevnetAccount; readonly user: DevnetAccount } {
  const account = (index: number) => derive(`m/44'/60'/3'/0/${index}`)
  return { deployer: account(2 * position), user: account(2 * position + 1) }
}

/** A random address without a known key, for the recipient of one transfer. */
export function freshAddress(): string {
  return hexlify(randomBytes(20))
}

function derive(path: string): DevnetAccount {
  const known = cache.get(path)
  if (known) return known
  const made = account(root.derivePath(path).privateKey)
  cache.set(path, made)
  return made
}

function account(privateKey: string): DevnetAccount {
  return { address: computeAddress(privateKey).toLowerCase(), privateKey }
}
