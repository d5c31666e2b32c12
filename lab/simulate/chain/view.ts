import type { Account, At, BlockHeader, Block, Chain, HeadEvent, Inclusion, Receipt, SendOutcome, Watch } from '../../../chains/port.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { world } from '../clock.ts'
import { never, type Worker } from '../temporal/host.ts'
import { deliveredBy, deliveryGas, gwei, type Mined, type Network, type SimulatedBlock, type SimulatedTransaction } from './network.ts'

const balance = String(10n ** 24n)
const transferGas = 21_000

export interface ViewOptions {
  readonly failures: number
  /** Probability that a transaction is not sent, or that the answer to a sent transaction is lost. */
  readonly silence: number
  /** Whether nodes may answer with the state of an older block. */
  readonly lags: boolean
}

interface OpenWatch extends Watch {
  see(): void
}

/** The chain as one process sees it: late, and with failed reads. A dead process no longer sees changes. */
export class ChainView {
  readonly chain: Chain
  readonly #network: Network
  readonly #process: Pick<Worker, 'alive'>
  readonly #options: ViewOptions
  readonly #listeners = new Set<(event: HeadEvent) => void>()
  readonly #watches = new Set<OpenWatch>()
  #current: HeadEvent | undefined
  #seen: SimulatedBlock[] = []
  #isCalm = false

  constructor(network: Network, process: Pick<Worker, 'alive'>, options: ViewOptions) {
    this.#network = network
    this.#process = process
    this.#options = options
    this.chain = this.#port()
  }

  start(): void {
    const poll = () => {
      if (!this.#process.alive) return
      this.#poll()
      world.clock.after(this.#network.intervalMs * (0.3 + 0.4 * world.chance.next()), poll)
    }
    poll()
  }

  calm(): void {
    this.#isCalm = true
  }

  /** Reads at the height of `at`, or a few blocks below if nodes lag. The read takes time and may fail. */
  async read<T>(answer: (height: number) => T, at: At = 'latest'): Promise<T> {
    await this.#travel()
    const { failures, lags } = this.#options
    if (!this.#isCalm && world.chance.next() < failures)
      throw new RelayerError('NODE_UNAVAILABLE', { detail: 'simulated', facts: { chain: this.#network.options.name } })
    const isAgreed = at === 'agreed' || at === 'agreed-latest'
    if (!this.#isCalm && isAgreed && world.chance.next() < failures)
      throw new RelayerError('NODES_DISAGREE', { detail: 'simulated', facts: { chain: this.#network.options.name } })
    const behind = lags && !this.#isCalm && world.chance.next() < 0.2 ? world.chance.whole(1, 3) : 0
    const { head, finalized } = this.#network
    const height = at === 'finalized' || at === 'agreed' ? finalized : head.height
    const result = answer(Math.max(0, height - behind))
    await this.#travel()
    return result
  }

  async #travel(): Promise<void> {
    await world.clock.sleep(1 + world.chance.next() * 10)
    if (!this.#process.alive) await never()
  }

  #poll(): void {
    const network = this.#network
    const { head } = network
    if (this.#current?.latest.hash === head.hash && this.#current.finalized === network.finalized) return
    const rolledBack: SimulatedBlock[] = []
    while (this.#seen.length > 0 && network.block(this.#seen.at(-1)?.height ?? 0)?.hash !== this.#seen.at(-1)?.hash)
      rolledBack.push(this.#seen.pop() as SimulatedBlock)
    const from = this.#seen.at(-1)?.height ?? head.height - 1
    const applied = network.blocks.slice(from + 1)
    this.#seen.push(...applied)
    this.#seen.splice(0, this.#seen.length - network.options.depth - 60)
    this.#current = {
      applied: applied.map(blockOf),
      rolledBack: rolledBack.map(({ height, hash }) => ({ height, hash })),
      latest: blockOf(head),
      finalized: network.finalized,
      time: head.timestamp,
    }
    for (const watch of this.#watches) watch.see()
    for (const listener of this.#listeners) listener(this.#current)
  }

  #watch(hashes: readonly string[]): Watch {
    const network = this.#network
    const watched = new Set(hashes)
    const listeners = new Set<(inclusion: Inclusion) => void>()
    let inclusion: Inclusion = { kind: 'unseen' }
    const find = (): Inclusion => {
      for (const hash of watched) {
        const mined = network.byHash.get(hash)
        if (mined && mined.height <= (this.#current?.latest.height ?? -1))
          return { kind: 'included', receipt: receiptOf(mined), final: mined.height <= network.finalized }
      }
      return { kind: 'unseen' }
    }
    const watch: OpenWatch = {
      get inclusion() {
        return inclusion
      },
      add: (hash) => void watched.add(hash.toLowerCase()),
      onChange: (listener) => void listeners.add(listener),
      close: () => void this.#watches.delete(watch),
      see: () => {
        const now = find()
        if (placeOf(now) === placeOf(inclusion)) return
        inclusion = now
        for (const listener of listeners) listener(now)
      },
    }
    this.#watches.add(watch)
    watch.see()
    return watch
  }

  async #send(raw: string): Promise<SendOutcome> {
    const transaction = JSON.parse(raw) as SimulatedTransaction
    await this.#travel()
    const isSilent = !this.#isCalm && world.chance.next() < this.#options.silence
    const isSent = !isSilent || world.chance.next() < 0.5
    const answer = isSent ? this.#network.send(transaction) : undefined
    await this.#travel()
    if (isSilent || answer === undefined) return { kind: 'refused', error: 'ambiguous', message: 'no answer' }
    return answer === 'accepted' || answer === 'known' ? { kind: answer } : { kind: 'refused', error: answer, message: answer }
  }

  async #account(address: string): Promise<Account> {
    const latest = this.#current?.latest
    const nonces = await this.read((height) => ({
      latestNonce: this.#network.nonceAt(address, height),
      finalizedNonce: this.#network.nonceAt(address, Math.min(height, this.#network.finalized)),
    }))
    return { ...nonces, balance, block: { height: latest?.height ?? 0, hash: latest?.hash ?? '' } }
  }

  async #simulate(data: string, gasFactor: number) {
    const key = deliveredBy({ to: `0x${'c0'.repeat(20)}`, data })
    const isThere = await this.read((height) => key !== undefined && this.#network.delivered(key, height) !== undefined)
    if (isThere && this.#network.options.guards) return { ok: false, revert: { data: '0x', reason: 'delivered already' } } as const
    return { ok: true, gas: String(Math.round((key === undefined ? transferGas : deliveryGas) * gasFactor)) } as const
  }

  #port(): Chain {
    const network = this.#network
    const { name, networkId, blockTimeMs, depth } = network.options
    const current = () => this.#current
    return {
      name,
      networkId,
      finality: { kind: 'depth', blocks: depth } as unknown as Chain['finality'],
      blockTimeMs,
      raises: true,
      callsByNode: new Map(),
      heads: {
        start: async () => {},
        stop: () => {},
        get current() {
          return current()
        },
        subscribe: (listener) => {
          this.#listeners.add(listener)
          return () => void this.#listeners.delete(listener)
        },
      },
      connect: async () => {},
      close: () => {},
      account: (address) => this.#account(address),
      balanceOf: () => this.read(() => balance),
      pendingNonce: (address) => this.read(() => network.pendingNonce(address)),
      hasCode: () => this.read(() => false),
      quote: () => this.read(() => ({ baseFee: String(network.baseFee), maxFee: String(2 * network.baseFee + gwei), tip: String(gwei) })),
      simulate: ({ data }, _from, { gasFactor = 1 } = {}) => this.#simulate(data, gasFactor),
      dataFee: async () => '0',
      noopGas: async () => String(transferGas),
      send: (raw) => this.#send(raw),
      watch: (hashes) => this.#watch(hashes),
      msToFinality: (height) => Math.max(0, height - (this.#current?.finalized ?? 0)) * blockTimeMs,
      agreedNonce: (address) => this.read((height) => network.nonceAt(address, height), 'agreed'),
      mined: (address, nonce) => this.read(() => minedOf(network.minedAt(address, nonce))),
      denies: ({ height, hash }) => this.read((latest) => latest < height - 128 || (network.block(height)?.hash ?? hash) !== hash),
      block: (height, at) =>
        this.read((latest) => (height <= latest ? headerOf(network.block(height)) : undefined), at === 'majority' ? 'agreed' : at),
      nodes: () => [{ name: 'one', origin: '', use: 'all', state: 'up', failures: 0 }],
      adjustNodes: () => {},
      receipt: (hash) =>
        this.read((height) => {
          const mined = network.byHash.get(hash)
          return mined && mined.height <= height ? receiptOf(mined) : undefined
        }),
    }
  }
}

function placeOf(inclusion: Inclusion): string {
  return inclusion.kind === 'unseen' ? '' : `${inclusion.receipt.hash}/${inclusion.receipt.block.hash}/${inclusion.final}`
}

function blockOf({ height, hash, parentHash, timestamp, baseFee, mined }: SimulatedBlock): Block {
  return { height, hash, parentHash, timestamp, baseFee: String(baseFee), transactions: mined.map(({ transaction }) => transaction.hash) }
}

function headerOf(block: SimulatedBlock | undefined): BlockHeader | undefined {
  return block && { height: block.height, hash: block.hash, parentHash: block.parentHash, timestamp: block.timestamp }
}

function receiptOf({ transaction, status, height, blockHash, price }: Mined): Receipt {
  const { hash, from, data } = transaction
  const gasUsed = String(data === '0x' ? transferGas : deliveryGas)
  return { hash, status, block: { height, hash: blockHash }, from, gasUsed, effectiveGasPrice: String(price), logs: [] }
}

function minedOf(mined: Mined | undefined) {
  if (!mined) return undefined
  const { hash, signingHash, to, data, value } = mined.transaction
  return { hash, signingHash, call: { to, data, value }, block: { height: mined.height, hash: mined.blockHash } }
}
