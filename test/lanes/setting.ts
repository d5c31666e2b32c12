import { Client, type WorkflowClientInterceptor } from '@temporalio/client'
import type { Chain, SendOutcome } from '../../chains/port.ts'
import type { Signer, UnsignedTransaction } from '../../chains/signing-port.ts'
import type { EvmChain } from '../../chains/evm/index.ts'
import { freshAddress } from '../../lab/devnet/chain/accounts.ts'
import type { Anvil } from '../../lab/devnet/chain/anvil.ts'
import { startTemporal, type TemporalOptions, type TemporalServer } from '../../lab/devnet/temporal/temporal.ts'
import { until } from '../../lab/devnet/until.ts'
import { type Attempt, type LaneConfig, type LaneState, laneId } from '../../domain/lane/lane.ts'
import type { LaneAnswer, LaneOrder, LaneRequest } from '../../domain/lane/messages.ts'
import type { FeePolicyResolver } from '../../domain/fees/fees.ts'
import { LaneAgent } from '../../lanes/agent.ts'
import type { NonceRequest } from '../../lanes/ledger/nonce-requests.ts'
import { callHash } from '../../lanes/deps.ts'
import type { PendingTransaction, PendingTransactionState } from '../../lanes/transaction/pending-transaction.ts'
import { LedgerClient } from '../../lanes/ledger/ledger-client.ts'
import { silentLogger } from '../../observability/logger.ts'
import { applyUpdate, laneStatusQuery } from '../../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import { createLedgerWorker } from '../../workers/roles/chain.ts'
import { connectTemporal, type Temporal } from '../../workers/process/temporal.ts'
import { defaultTuning, type WorkerTuning } from '../../workers/process/create-worker.ts'
import { pooled } from '../helpers/e2e-chain.ts'
import { devnetSigner, networkId, startManualAnvil, testChain } from '../helpers/evm.ts'
import { afterAll, beforeAll } from 'vitest'

const logger = silentLogger()
/** A first attempt, with fees far above a devnet's base fee. */
const first: Attempt = { kind: 'call', gasLimit: '30000', maxFee: '5000000000', tip: '1000000000' }

export interface Ledgers {
  readonly server: TemporalServer
  readonly temporal: Temporal
  client(config: LaneConfig, options?: { readonly updatesPerRun?: number; readonly client?: Client }): LedgerClient
  state(lane: string): Promise<LaneState>
  /** Sends a request to a ledger, as a client that is not a process of the lane. */
  order(lane: string, request: LaneOrder | LaneRequest): Promise<LaneAnswer | undefined>
  without(during: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

export async function startLedgers({
  tuning,
  ...options
}: TemporalOptions & { readonly tuning?: Partial<WorkerTuning> } = {}): Promise<Ledgers> {
  const server = await startTemporal({ inMemory: true, headless: true, ...options })
  const temporal = await connectTemporal({ address: server.address, namespace: 'default' }, logger)
  const serve = async () => {
    const worker = await createLedgerWorker({ temporal, logger, tuning: { ...defaultTuning, graceMs: 0, ...tuning } })
    return { worker, running: worker.run() }
  }
  const end = async ({ worker, running }: Awaited<ReturnType<typeof serve>>) => {
    worker.shutdown()
    await running
  }
  let serving = await serve()
  const clients: LedgerClient[] = []
  return {
    server,
    temporal,
    client(config, { client = temporal.client, ...rest } = {}) {
      const ledgerClient = new LedgerClient({ client, config, logger, ...rest })
      clients.push(ledgerClient)
      return ledgerClient
    },
    state: (lane) => temporal.client.workflow.getHandle(laneWorkflowId(lane)).query(laneStatusQuery),
    async order(lane, request) {
      const handle = temporal.client.workflow.getHandle(laneWorkflowId(lane))
      return (await handle.executeUpdate(applyUpdate, { args: [{ requests: [request] }] })).answers[0]
    },
    async without(during) {
      await end(serving)
      try {
        await during()
      } finally {
        serving = await serve()
      }
    },
    async stop() {
      for (const one of clients) one.close()
      await end(serving)
      await temporal.connection.close()
      await server.stop()
    },
  }
}

export function countingClient({ connection, namespace }: Temporal): {
  client: Client
  readonly sent: number
  readonly mostAtOnce: number
} {
  const count = { sent: 0, mostAtOnce: 0 }
  let now = 0
  const counted = async <Result>(send: () => Promise<Result>): Promise<Result> => {
    count.sent += 1
    now += 1
    count.mostAtOnce = Math.max(count.mostAtOnce, now)
    try {
      return await send()
    } finally {
      now -= 1
    }
  }
  const interceptor: WorkflowClientInterceptor = {
    startUpdate: (input, next) => counted(() => next(input)),
    startUpdateWithStart: (input, next) => counted(() => next(input)),
  }
  return Object.assign(count, { client: new Client({ connection, namespace, interceptors: { workflow: [interceptor] } }) })
}

/** A lane on an anvil that makes blocks only when a test mines them. */
export interface LaneSetting {
  readonly ledgers: Ledgers
  readonly anvil: Anvil & { mine(blocks?: number): Promise<void> }
  readonly chain: EvmChain
  /** Waits until the agent is synced, unless `synced` is false. */
  agent(signer: Signer, options?: AgentOptions): Promise<LaneAgent>
  /** Mines a block without transactions. Resolves when the chain's head tracker has the block. */
  passBlock(): Promise<void>
  /** Mines blocks without transactions, and returns their number. Throws after 100 blocks. */
  passUntil(what: string, isSo: () => Promise<boolean> | boolean): Promise<number>
  /** Mines a block with the whole pool. Resolves when the chain's head tracker has the block. */
  mine(blocks?: number): Promise<void>
  /** Mines a block after each `look` that fails. An agent may check the last block only when the next one comes. */
  mineUntil(look: () => Promise<boolean | undefined> | boolean | undefined, what: string): Promise<unknown>
  stop(): Promise<void>
}

export interface AgentOptions {
  readonly window?: number
  readonly bumpAfterBlocks?: number
  readonly fillAfterBlocks?: number
  readonly fees?: FeePolicyResolver
  readonly minimumBalance?: string
  readonly ageingMs?: number
  readonly synced?: boolean
  readonly lane?: string
  /** The chain's estimate for a no-op, in gas. */
  readonly noopGas?: string
}

export async function startLaneSetting(): Promise<LaneSetting> {
  const [ledgers, anvil] = await Promise.all([startLedgers(), startManualAnvil()])
  await anvil.mine()
  const chain = testChain(anvil.url)
  await chain.connect()
  const agents: LaneAgent[] = []
  const seen = async () => {
    const height = Number(await anvil.rpc<string>('eth_blockNumber'))
    await until(() => (chain.heads.current?.latest.height ?? 0) >= height, { timeoutMs: 60_000, what: `block ${height} to be seen` })
  }
  const mine = async (blocks?: number) => {
    await anvil.mine(blocks)
    await seen()
  }
  const gasLimit = (limit: number) => anvil.rpc('evm_setBlockGasLimit', [`0x${limit.toString(16)}`])
  const passBlock = async () => {
    await gasLimit(20_000)
    await anvil.mine()
    await gasLimit(60_000_000)
    await seen()
  }
  return {
    ledgers,
    anvil,
    chain,
    async agent(signer, options = {}) {
      const { window = 8, bumpAfterBlocks = 3, fillAfterBlocks = 20, synced = true, lane = laneOf(signer), minimumBalance } = options
      const fees = { ...(options.fees && { fees: options.fees }), ...(options.ageingMs && { ageingMs: options.ageingMs }) }
      const config = { lane, window, fillAfterBlocks, ...(minimumBalance && { minimumBalance }) }
      const agent = new LaneAgent({
        chain: options.noopGas ? withNoopGas(chain, options.noopGas) : chain,
        signer,
        signedBelow: async () => undefined,
        ledger: ledgers.client(config),
        logger,
        config,
        bumpAfterBlocks,
        ...fees,
      })
      agents.push(agent)
      agent.start()
      await until(() => (synced ? agent.view?.synced : agent.view !== undefined), { timeoutMs: 60_000, what: 'the lane to be synced' })
      return agent
    },
    passBlock,
    async passUntil(what, isSo) {
      for (let blocks = 0; blocks < 100; blocks++) {
        if (await until(isSo, { timeoutMs: 400, what }).catch(() => false)) return blocks
        await passBlock()
      }
      throw new Error(`100 blocks passed without ${what}`)
    },
    mine,
    mineUntil: (look, what) => until(async () => (await look()) || mine().then(() => false), { timeoutMs: 90_000, everyMs: 50, what }),
    async stop() {
      for (const agent of agents) agent.stop()
      chain.close()
      await anvil.stop()
      await ledgers.stop()
    },
  }
}

/** A lane setting with one agent at a time. `signer`: key of the newest agent. */
export interface LaneTests extends LaneSetting {
  signer: Signer
  key(): Promise<Signer>
  fresh(options?: AgentOptions): Promise<LaneAgent>
  pool(): ReturnType<typeof pooled>
  ledger(): Promise<LaneState>
  /** Sends a transaction without Portage. Default: a payment of 0 to the key itself. */
  sendOutside(transaction: Partial<UnsignedTransaction> & Pick<UnsignedTransaction, 'nonce' | 'maxFee'>): Promise<SendOutcome>
}

/** A lane setting for the tests of a suite. The fields of `LaneSetting` exist only after `beforeAll` has run. */
export function useLaneSetting(defaults: () => AgentOptions = () => ({})): LaneTests {
  let keys = 20
  const use = {
    key: async () => (use.signer = await devnetSigner(keys++)),
    fresh: async (options = {}) => use.agent(await use.key(), { ...defaults(), ...options }),
    pool: () => pooled(use.anvil, use.signer.address),
    ledger: () => use.ledgers.state(laneOf(use.signer)),
    async sendOutside(transaction) {
      const payment = { networkId: String(networkId), to: use.signer.address, data: '0x', value: '0', gasLimit: '21000', tip: '1000000000' }
      return use.chain.send((await use.signer.sign({ ...payment, ...transaction })).raw)
    },
  } as LaneTests
  beforeAll(async () => void Object.assign(use, await startLaneSetting()))
  afterAll(() => use.stop?.())
  return use
}

function withNoopGas(chain: EvmChain, gas: string): Chain {
  return new Proxy<Chain>(chain, {
    get(target, name: keyof Chain) {
      if (name === 'noopGas') return async () => gas
      const value = target[name]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

export function laneOf(signer: Pick<Signer, 'address'>): string {
  return laneId('evm', networkId, signer.address)
}

/** A payment of 1 wei to a new address. Its intent is `<name>/1`. */
export function request(name: string, changes: Partial<NonceRequest> = {}): NonceRequest {
  const intent = { to: freshAddress(), data: '0x', value: '1' }
  const owner = { intentId: `${name}/1`, callHash: callHash(intent), value: intent.value }
  return { owner, intent, first, priority: 3, source: 'test', ...changes }
}

/** Throws Error with the reason if the request gets no nonce. */
export async function acquired(agent: LaneAgent, one: NonceRequest, timeoutMs = 60_000): Promise<PendingTransaction> {
  const result = await agent.acquire(one, { timeoutMs })
  if (result.kind === 'refused') throw new Error(`${one.owner.intentId} was refused: ${result.why}, ${result.detail}`)
  return result.pending
}

export async function signedAndSent(agent: LaneAgent, one: NonceRequest): Promise<PendingTransaction> {
  const pending = await acquired(agent, one)
  await pending.signAndSend()
  return pending
}

/** Resolves with the first state for which `done` returns true. Throws after a minute. */
export async function becomes(
  pending: PendingTransaction,
  done: (state: PendingTransactionState) => boolean,
): Promise<PendingTransactionState> {
  if (!(await pending.until(done, 60_000))) throw new Error(`the transaction is ${JSON.stringify(pending.state)}`)
  return pending.state
}
