import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callsOf } from '../helpers/node-calls.ts'
import type { Chain, HeadEvent, Inclusion } from '../../chains/port.ts'
import type { Signer, UnsignedTransaction } from '../../chains/signing-port.ts'
import type { FinalityPolicy } from '../../domain/finality.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { included, inclusion } from '../helpers/inclusions.ts'
import { hearWarnings } from '../helpers/warnings.ts'
import { head } from '../helpers/heads.ts'

/** A real network of one chain family. It mines only on demand. */
export interface ChainHarness {
  /** Makes an adapter for the network's node, or for `nodes`. The adapter is not connected yet. */
  chain(options?: { nodes?: readonly string[]; networkId?: string; finality?: FinalityPolicy; blockTimeMs?: number }): Chain
  readonly url: string
  readonly networkId: string
  /** A signer with a funded account that no other test uses. */
  signer(index: number): Promise<Signer>
  transaction(signer: Signer, nonce: number): UnsignedTransaction
  /** The same transaction with fees that are high enough to replace the first. */
  replacement(transaction: UnsignedTransaction): UnsignedTransaction
  reverting(): Promise<{ intent: Intent; reason: string }>
  mine(blocks?: number): Promise<void>
  reorganise(depth: number): Promise<void>
  stop(): Promise<void>
}

/** Tests of a chain adapter. Each test has its own account. */
export function chainAdapterSuite(name: string, start: () => Promise<ChainHarness>): void {
  describe(`chain adapter ${name}`, () => {
    let harness: ChainHarness
    let chain: Chain
    let accounts = 0
    const nextSigner = () => harness.signer(accounts++)

    beforeAll(async () => {
      harness = await start()
      await harness.mine(3)
      chain = harness.chain()
      await chain.connect()
    })
    afterAll(async () => {
      chain?.close()
      await harness?.stop()
    })

    async function send(signer: Signer, nonce: number): Promise<string> {
      const { raw, hash } = await signer.sign(harness.transaction(signer, nonce))
      expect(await chain.send(raw)).toMatchObject({ kind: 'accepted' })
      return hash
    }

    test('a chain adapter has its network, finality and block time', () => {
      expect(chain).toMatchObject({ networkId: harness.networkId, finality: { kind: 'tag' } })
      expect(chain.blockTimeMs).toBeGreaterThan(0)
    })

    test('a chain adapter refuses a node of another network', async () => {
      const other = harness.chain({ networkId: '999999' })
      await expect(other.connect()).rejects.toMatchObject({ code: 'CHAIN_ID_MISMATCH' })
      other.close()
    })

    test('a chain adapter fails with a code if no node answers, and never hangs', async () => {
      const dead = harness.chain({ nodes: ['http://127.0.0.1:9'] })
      await expect(dead.connect()).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
      await expect(dead.account(`0x${'1'.repeat(40)}`)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
      expect(await dead.send('0x00')).toMatchObject({ kind: 'refused', error: 'ambiguous' })
      dead.close()
    })

    test('heads are linked and in order, finality never falls, and a bad listener does not stop the others', async () => {
      const events: HeadEvent[] = []
      const from = chain.heads.current as HeadEvent
      const warnings = hearWarnings()
      const endBad = chain.heads.subscribe(() => {
        throw new Error('a bad listener')
      })
      const end = chain.heads.subscribe((event) => events.push(event))
      await harness.mine(5)
      await head(chain, (event) => event.latest.height >= from.latest.height + 5)
      await harness.mine(3)
      await head(chain, (event) => event.latest.height >= from.latest.height + 8)
      for (const unsubscribe of [endBad, end]) unsubscribe()
      expect(warnings).toContain('Error: a bad listener')
      const blocks = events.flatMap(({ applied }) => applied)
      expect(blocks.map(({ height }) => height)).toEqual(Array.from({ length: 8 }, (_, index) => from.latest.height + 1 + index))
      for (const [index, block] of blocks.entries()) expect(block.parentHash).toBe((blocks[index - 1] ?? from.latest).hash)
      for (const { rolledBack, finalized, latest } of events) expect([rolledBack, finalized <= latest.height]).toEqual([[], true])
      const finalities = [from, ...events].map(({ finalized }) => finalized)
      expect(finalities).toEqual([...finalities].sort((a, b) => a - b))
      const seen = events.length
      await harness.mine()
      await head(chain, (event) => event.latest.height >= from.latest.height + 9)
      expect(events).toHaveLength(seen)
    })

    test('account, pending nonce and code are read', async () => {
      const signer = await nextSigner()
      expect(await chain.account(signer.address)).toMatchObject({
        latestNonce: 0,
        finalizedNonce: 0,
        balance: expect.stringMatching(/^[1-9]\d+$/),
      })
      const hash = await send(signer, 0)
      expect(await chain.pendingNonce(signer.address)).toBe(1)
      const watch = chain.watch([hash])
      await harness.mine()
      await included(watch)
      const account = await chain.account(signer.address)
      expect(account).toMatchObject({ latestNonce: 1, finalizedNonce: 0 })
      expect(account.block.height).toBe(chain.heads.current?.latest.height)
      await harness.mine(4)
      await inclusion(watch, (now) => now.kind === 'included' && now.final)
      expect(await chain.account(signer.address)).toMatchObject({ latestNonce: 1, finalizedNonce: 1 })
      expect(await chain.hasCode(signer.address)).toBe(false)
      watch.close()
    })

    test('a quote has decimal strings, and its fee covers the tip and the base fee', async () => {
      const quote = await chain.quote()
      expect(BigInt(quote.maxFee)).toBeGreaterThanOrEqual(BigInt(quote.tip) + BigInt(quote.baseFee ?? 0))
      expect(BigInt(quote.tip)).toBeGreaterThan(0n)
    })

    test('a simulation returns gas with room, or the data of the revert', async () => {
      const signer = await nextSigner()
      const { to, data, value } = harness.transaction(signer, 0)
      const good = await chain.simulate({ to, data, value }, signer.address)
      expect(good).toEqual({ ok: true, gas: expect.stringMatching(/^\d+$/) })
      const { intent, reason } = await harness.reverting()
      expect(await chain.simulate(intent, signer.address)).toEqual({
        ok: false,
        revert: { data: expect.stringMatching(/^0x[0-9a-f]*$/), reason },
      })
      expect(await chain.hasCode(intent.to)).toBe(true)
    })

    test('signing is deterministic, and the address is lower case', async () => {
      const signer = await nextSigner()
      const transaction = harness.transaction(signer, 7)
      const [one, two] = [await signer.sign(transaction), await signer.sign(transaction)]
      expect(one).toEqual(two)
      expect(one.hash).toMatch(/^0x[0-9a-f]{64}$/)
      expect(signer.address).toBe(signer.address.toLowerCase())
    })

    test('a send reports a known transaction as known; silence, junk and refusals never make it throw', async () => {
      const signer = await nextSigner()
      const transaction = harness.transaction(signer, 0)
      const { raw } = await signer.sign(transaction)
      expect(await chain.send(raw)).toEqual({ kind: 'accepted' })
      expect(await chain.send(raw)).toEqual({ kind: 'known' })
      expect(await chain.send('0x1234')).toMatchObject({ kind: 'refused', message: expect.any(String) })
      await mineUntilIncluded(chain, harness, (await signer.sign(transaction)).hash)
      expect(await chain.send(raw)).toMatchObject({ kind: 'refused', error: 'nonce-too-low' })
    })

    test('a watch reports an inclusion, then its finality, and immediately if it is included already', async () => {
      const signer = await nextSigner()
      const hash = await send(signer, 0)
      const watch = chain.watch([hash])
      expect(watch.inclusion).toEqual({ kind: 'unseen' })
      const reports: Inclusion[] = []
      watch.onChange((now) => reports.push(now))
      await harness.mine()
      const once = await included(watch)
      expect(once).toMatchObject({ receipt: { hash, status: 'success', from: signer.address } })
      const late = chain.watch([hash])
      await included(late)
      await harness.mine(4)
      await inclusion(watch, (now) => now.kind === 'included' && now.final)
      expect(reports.map((now) => now.kind === 'included' && now.final)).toEqual([false, true])
      const fresh = harness.chain()
      await fresh.connect()
      const unknown = fresh.watch([hash])
      expect(await included(unknown)).toMatchObject({ final: true })
      fresh.close()
      watch.close()
      late.close()
    })

    test('a watch finds a replacement by its added hash, and reports nothing once it is closed', async () => {
      const signer = await nextSigner()
      const first = harness.transaction(signer, 0)
      const one = await signer.sign(first)
      const two = await signer.sign(harness.replacement(first))
      const watch = chain.watch([one.hash])
      const closed = chain.watch([one.hash, two.hash])
      let closedReports = 0
      closed.onChange(() => closedReports++)
      closed.close()
      await chain.send(one.raw)
      expect(await chain.send(two.raw)).toEqual({ kind: 'accepted' })
      watch.add(two.hash)
      await harness.mine()
      expect(await included(watch)).toMatchObject({ receipt: { hash: two.hash } })
      expect(closedReports).toBe(0)
      watch.close()
    })

    test('a watch reports a transaction as unseen after a reorganisation, and as included by the next block', async () => {
      const signer = await nextSigner()
      const { raw, hash } = await signer.sign(harness.transaction(signer, 0))
      await chain.send(raw)
      const watch = chain.watch([hash])
      await harness.mine()
      const before = await included(watch)
      const rolledBack = new Promise<HeadEvent>((resolve) => {
        const end = chain.heads.subscribe((event) => {
          if (event.rolledBack.length === 0) return
          end()
          resolve(event)
        })
      })
      await harness.reorganise(1)
      await inclusion(watch, (now) => now.kind === 'unseen')
      expect((await rolledBack).rolledBack[0]).toEqual(before.receipt.block)
      expect(await chain.receipt(hash)).toBeUndefined()
      expect(await chain.account(signer.address)).toMatchObject({ latestNonce: 0 })
      await chain.send(raw)
      await harness.mine()
      const after = await included(watch)
      expect(after.receipt.block.hash).not.toBe(before.receipt.block.hash)
      expect((await chain.receipt(hash))?.block).toEqual(after.receipt.block)
      watch.close()
    })

    test('the transaction that used a nonce is found with both hashes, and none for an unused nonce', async () => {
      const signer = await nextSigner()
      const { to, data, value, ...rest } = harness.transaction(signer, 0)
      const { raw, hash, signingHash } = await signer.sign({ to, data, value, ...rest })
      expect(await chain.mined(signer.address, 0)).toBeUndefined()
      await chain.send(raw)
      const watch = chain.watch([hash])
      await harness.mine()
      const once = await included(watch)
      const found = chain.mined(signer.address, 0)
      // The only node of a chain must give the same answer twice, one block apart.
      await harness.mine()
      expect(await found).toEqual({ hash, signingHash, call: { to, data, value }, block: once.receipt.block })
      const [pending] = await Promise.all([chain.mined(signer.address, 1), harness.mine()])
      expect(pending).toBeUndefined()
      watch.close()
    })

    test('denies: not a block that is there; one that never was, when more than half say so', async () => {
      const { latest } = chain.heads.current as HeadEvent
      expect(await chain.denies({ height: latest.height, hash: latest.hash })).toBe(false)
      const denied = chain.denies({ height: latest.height, hash: `0x${'ab'.repeat(32)}` })
      await harness.mine()
      expect(await denied).toBe(true)
    })

    test('nodes: each by name, without the secrets of its URL; one that is disabled is not asked', async () => {
      const own = harness.chain({ nodes: [`${harness.url}/?key=s3cretkey99`, harness.url] })
      await own.connect()
      expect(own.nodes().map(({ use, state }) => [use, state])).toEqual([
        ['all', 'up'],
        ['all', 'up'],
      ])
      expect(JSON.stringify(own.nodes())).not.toContain('s3cret')
      const names = own.nodes().map((node) => node.name)
      own.adjustNodes(names.map((node) => ({ chain: own.name, name: node, disabled: true })))
      expect(own.nodes().map(({ state }) => state)).toEqual(['disabled', 'disabled'])
      await expect(own.hasCode(`0x${'1'.repeat(40)}`)).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
      own.adjustNodes([])
      expect(await own.hasCode(`0x${'1'.repeat(40)}`)).toBe(false)
      own.close()
    })

    test('msToFinality: 0 for what is final, else more; instant chains are final at once', async () => {
      await harness.mine(4)
      const event = await head(chain, ({ finalized }) => finalized > 0)
      expect(chain.msToFinality(event.finalized)).toBe(0)
      expect(chain.msToFinality(event.latest.height)).toBeGreaterThan(0)
      const instant = harness.chain({ finality: { kind: 'instant' } })
      await instant.connect()
      const { latest, finalized } = instant.heads.current as HeadEvent
      expect(finalized).toBe(latest.height)
      expect(instant.msToFinality(latest.height)).toBe(0)
      instant.close()
      const deep = harness.chain({ finality: { kind: 'depth', blocks: 3 }, blockTimeMs: 60_000 })
      await deep.connect()
      const current = deep.heads.current as HeadEvent
      expect(current.finalized).toBe(current.latest.height - 3)
      const wait = deep.msToFinality(current.latest.height)
      expect(wait).toBeGreaterThan(2 * deep.blockTimeMs)
      expect(wait).toBeLessThanOrEqual(3 * deep.blockTimeMs)
      deep.close()
    })

    test('a chain adapter counts its calls, and makes none once it is closed', async () => {
      const own = harness.chain()
      await own.connect()
      await own.quote()
      const count = () => callsOf(own)
      expect(count()).toBeGreaterThan(0)
      own.close()
      const after = count()
      const { latest } = chain.heads.current as HeadEvent
      await harness.mine()
      await head(chain, (event) => event.latest.height > latest.height)
      expect(count()).toBe(after)
      await expect(own.quote().then(() => own.hasCode(`0x${'1'.repeat(40)}`))).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
    })
  })
}

async function mineUntilIncluded(chain: Chain, harness: ChainHarness, hash: string): Promise<void> {
  const watch = chain.watch([hash])
  await harness.mine()
  await included(watch)
  watch.close()
}
