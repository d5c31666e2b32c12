import { computeAddress, HDNodeWallet, hexlify, Mnemonic, randomBytes } from 'ethers'

/**
 * The well-known test mnemonic of anvil and hardhat. DEVNET: its keys are public. Never fund them on a real network.
 */
export const devnetMnemonic = 'test test test test test test test test test test test junk'

/** The first guardian of Wormhole's own devnet. DEVNET: the key is public. */
const devnetGuardian0 = '0xcfb12303a19cde580bb4dd771639b0d26bc68353645571a8cff516ab2ee113a0'

/** A DEVNET account: its key is public knowledge. */
export interface DevnetAccount {
  /** 0x address, lower case. */
  readonly address: string
  /** 0x hex, 32 bytes. */
  readonly privateKey: string
}

/** Indexes of anvil's accounts (path m/44'/60'/0'/0/i). Each account has one job, so that no two jobs share a nonce. */
export const accountIndex = {
  /** Deploys contracts. One for each chain, so that the chains' contracts have different addresses. */
  deployer: 0,
  /** Sends the users' transfers. One for each chain. */
  user: 2,
  /** A stranger who may redeem too. One for each chain. */
  outsider: 4,
  /** Sends the users' native transfers. One for each chain. */
  nativeUser: 6,
  /** Deploys and administers the native bridge. One for each chain. */
  nativeDeployer: 8,
  /** The first lane of the first chain. The lanes of the second chain follow those of the first. */
  lane: 10,
  /**
   * Sends the users' NTT transfers. One for each chain. This index and the following ones are far above the last lane,
   * so anvil does not fund these accounts.
   */
  nttUser: 10_000,
  /** Deploys and owns the NTT contracts. One for each chain. */
  nttDeployer: 10_002,
  /** Sends requests for execution. One for each chain. */
  executorUser: 10_004,
  /** Signs quotes. It has no coins. */
  quoter: 10_006,
} as const

const root = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(devnetMnemonic), 'm')
const cache = new Map<string, DevnetAccount>()

/** Anvil's account at this index. */
export function devnetAccount(index: number): DevnetAccount {
  return derive(`m/44'/60'/0'/0/${index}`)
}

/**
 * Keys of the guardian set. Guardian 0 has Wormhole's own devnet key. The others are derived (path m/44'/60'/1'/0/i).
 */
export function devnetGuardians(count: number): DevnetAccount[] {
  const [first, ...others] = Array.from({ length: count }, (_, index) => index)
  return first === undefined ? [] : [account(devnetGuardian0), ...others.map((index) => derive(`m/44'/60'/1'/0/${index}`))]
}

/** Keys of CCTP's attesters (path m/44'/60'/2'/0/i), in ascending order of addresses, which attestations require. */
export function devnetAttesters(count: number): DevnetAccount[] {
  const all = Array.from({ length: count }, (_, index) => derive(`m/44'/60'/2'/0/${index}`))
  return all.sort((one, other) => (one.address < other.address ? -1 : 1))
}

/** Accounts that deploy CCTP on a chain and burn as its users (path m/44'/60'/3'/0/i). Anvil does not fund them. */
export function devnetCctpAccounts(position: number): { readonly deployer: DevnetAccount; readonly user: DevnetAccount } {
  const account = (index: number) => derive(`m/44'/60'/3'/0/${index}`)
  return { deployer: account(2 * position), user: account(2 * position + 1) }
}

/** A random address for the recipient of one transfer. Its key is unknown. */
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
