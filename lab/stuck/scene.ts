import { concat, keccak256, toBeHex, zeroPadValue } from 'ethers'
import type { CauseCode } from '../../domain/catalogue/catalogue.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { Anvil } from '../devnet/chain/anvil.ts'
import { until } from '../devnet/until.ts'
import type { Devnet, DevnetOptions } from '../devnet/index.ts'
import type { Treatment } from '../devnet/wormhole/observations.ts'
import type { SentTransfer } from '../devnet/wormhole/users.ts'

export type ChainKey = 'ethereum' | 'bsc'

/**
 * Three nodes per chain, of which two are a majority. Two keys each have a scenario. A third serves scenarios that use
 * several keys at once.
 */
export const stuckDevnet = { nodesPerChain: 3, keysPerChain: 2, auditMinutes: 0.05, native: 'fixed' } as const satisfies DevnetOptions

/** The files of the network's plug-ins, by their names. */
export interface StuckPlugins {
  moduleOf(name: string): string
  /** The code that the config pins. */
  textOf(name: string): string
}

/** The parts that scenarios change. */
export interface StuckScene {
  readonly devnet: Devnet
  readonly client: TemporalClient
  /** Treatment of messages by their amount in 8 decimals, which is unique in the scene. Filled by `sendCoin`. */
  readonly treatments: Map<bigint, Treatment>
  /** Absent: the network has none. */
  readonly plugins?: StuckPlugins
  /** Runs `portage …` with the network's config, as an administrator. Throws Error unless the exit code is 0. */
  cli(...argv: string[]): Promise<unknown>
  /** Kills the only process with this role, chain and key (SIGKILL). Returns a function that starts another one. */
  kill(role: 'ledger' | 'chain' | 'lane', chain: ChainKey): Promise<() => Promise<unknown>>
}

/** An injected fault. */
export interface Fault {
  /** The id of the row's place. Absent: any. */
  readonly where?: string
  mend(): Promise<unknown>
}

/** A cause on real parts. */
export interface StuckCase {
  /** Name for `--case`. */
  readonly name: string
  readonly fault: string
  readonly code: CauseCode
  /** Makes the fault. Resolves when it exists and can be seen: seconds count from then. */
  make(scene: StuckScene): Promise<Fault>
}

/**
 * Sends a user's coins with a unique amount. Resolves when the transfer is mined; with `sign` (default) or `mute`, when
 * the guardians have signed it; else when it is final. @param to the recipient; absent: a fresh address
 */
export async function sendCoin(
  { devnet, treatments }: StuckScene,
  source: ChainKey,
  treatment: Treatment = 'sign',
  to?: string,
): Promise<SentTransfer> {
  const { guardian } = devnet
  const amount = 10n ** 16n + BigInt(treatments.size) * dust
  treatments.set(amount / dust, treatment)
  guardian.treat(({ payload }) => treatments.get(BigInt(`0x${payload.slice(4, 68)}`)) ?? 'sign')
  const recipient = to === undefined ? {} : { recipient: to }
  const [sent] = await devnet.users[source].send([{ kind: 'coin', amount, ...recipient }])
  if (!sent) throw new Error('the user sent nothing')
  if (treatment === 'sign' || treatment === 'mute') await guardian.waitFor(sent.emitterChain, sent.emitter, sent.sequence)
  else await untilFinal(devnet.chains[source].anvil)
  return sent
}

/** The bridge keeps this part of an amount, because messages carry 8 decimals. */
const dust = 10n ** 10n

/** Reason of all orders in scenarios. */
export const reason = ['--reason', 'a scenario'] as const

/** Resolves when the present head is final. */
async function untilFinal(anvil: Anvil): Promise<void> {
  const heightOf = async (tag: string) => Number((await anvil.rpc<{ number: string }>('eth_getBlockByNumber', [tag, false])).number)
  const height = await heightOf('latest')
  await until(async () => (await heightOf('finalized')) >= height, { timeoutMs: 90_000, everyMs: 50, what: `block ${height} to be final` })
}

/** Gives an account this amount of the wrapped coin. WETH9 keeps balances in storage slot 3. */
export function setTokens(anvil: Pick<Anvil, 'rpc'>, weth: string, owner: string, units: bigint): Promise<unknown> {
  const slot = keccak256(concat([zeroPadValue(owner, 32), toBeHex(3, 32)]))
  return anvil.rpc('anvil_setStorageAt', [weth, slot, toBeHex(units, 32)])
}
