import { concat, keccak256, toBeHex, zeroPadValue } from 'ethers'
import type { CauseCode } from '../../domain/catalogue/catalogue.ts'
import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { Anvil } from '../devnet/chain/anvil.ts'
import { until } from '../devnet/until.ts'
import type { Devnet, DevnetOptions } from '../devnet/index.ts'
import type { SigningService } from '../devnet/signing/signing-service.ts'
import type { Treatment } from '../devnet/wormhole/observations.ts'
import type { SentTransfer } from '../devnet/wormhole/users.ts'

export type ChainKey = 'ethereum' | 'bsc'

/** Whole NTT tokens. Larger transfers are queued for `rateLimitSeconds`. */
export const queuedAbove = 1_000n

/** Each chain has three nodes, of which two are a majority. */
export const stuckDevnet = {
  ...{ nodesPerChain: 3, keysPerChain: 2, auditMinutes: 0.05, native: 'fixed' },
  ...{ ntt: { inboundLimit: queuedAbove, rateLimitSeconds: 30 }, executor: true, cctp: {} },
} as const satisfies DevnetOptions

export interface StuckPlugins {
  moduleOf(name: string): string
  /** Text of the plug-in's file whose digest the config pins. */
  textOf(name: string): string
}

export interface StuckScene {
  readonly devnet: Devnet
  readonly client: TemporalClient
  /** Treatment of messages, by their amount in units of 8 decimals. `sendCoin` adds a new amount for each transfer. */
  readonly treatments: Map<bigint, Treatment>
  readonly plugins?: StuckPlugins
  /** Holds the key of the Executor's quoter. */
  readonly quoter?: SigningService
  /** Runs `portage …` as an admin. Throws Error unless the exit code is 0. */
  cli(...argv: string[]): Promise<unknown>
  /** Kills the processes of this role and chain (SIGKILL). The returned function starts them again. */
  kill(role: 'ledger' | 'chain' | 'lane', chain: ChainKey): Promise<() => Promise<unknown>>
}

export interface Fault {
  /** Id of the place that the row names. Undefined if any place is right. */
  readonly where?: string
  mend(): Promise<unknown>
}

export interface StuckCase {
  readonly name: string
  readonly fault: string
  /** Code of the row. For TRANSFERS_WAIT, the code of the error for which the transfers wait. */
  readonly code: CauseCode | ErrorCode
  /** Causes the fault. Resolves when the fault is visible, and the count of seconds starts. */
  make(scene: StuckScene): Promise<Fault>
}

/**
 * Sends a user's coins with a unique amount. Resolves when the guardians have signed (treatments `sign` and `mute`),
 * otherwise when the transfer is final. Without `to`, the recipient is a fresh address.
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

/** wei. The smallest amount that a message can carry, because its amounts have 8 decimals. */
const dust = 10n ** 10n

export const reason = ['--reason', 'a scenario'] as const

async function untilFinal(anvil: Anvil): Promise<void> {
  const heightOf = async (tag: string) => Number((await anvil.rpc<{ number: string }>('eth_getBlockByNumber', [tag, false])).number)
  const height = await heightOf('latest')
  await until(async () => (await heightOf('finalized')) >= height, { timeoutMs: 90_000, everyMs: 50, what: `block ${height} to be final` })
}

/** Sets an account's balance of the wrapped coin. WETH9 has its balances in storage slot 3. */
export function setTokens(anvil: Pick<Anvil, 'rpc'>, weth: string, owner: string, units: bigint): Promise<unknown> {
  const slot = keccak256(concat([zeroPadValue(owner, 32), toBeHex(3, 32)]))
  return anvil.rpc('anvil_setStorageAt', [weth, slot, toBeHex(units, 32)])
}
