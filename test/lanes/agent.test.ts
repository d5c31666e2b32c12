import { expect, test } from 'vitest'
import type { Chain } from '../../chains/port.ts'
import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import type { Entry } from '../../domain/lane/lane.ts'
import type { Ask, LaneAnswer } from '../../domain/lane/messages.ts'
import { LaneAgent } from '../../lanes/agent.ts'
import type { LaneDeps } from '../../lanes/deps.ts'
import { silentLogger } from '../../observability/logger.ts'
import { self } from '../helpers/limited-key.ts'
import { testPolicy } from '../helpers/signing-policy.ts'

const call = { owner: { intentId: 'one/1', callHash: '0x01' }, intent: { to: self, data: '0x01', value: '0' } }

async function setting(
  sign: () => Promise<never>,
  { maybeSent = false, released = 'free' }: { maybeSent?: boolean; released?: 'free' | 'held' } = {},
) {
  const asked: string[] = []
  const entry: Entry = {
    ...{ nonce: 7, owner: call.owner, grantedTo: 'x-1', maybeSent, sinceBlock: 0, claimedBlock: 0 },
    attempts: [{ kind: 'call', gasLimit: '30000', maxFee: '1000', tip: '100' }],
  }
  const answers: Record<string, unknown> = { find: { kind: 'granted', entry }, release: { kind: released, nonce: 7 } }
  const ledger = {
    subscribe: () => {},
    async ask({ kind }: Ask) {
      asked.push(kind)
      return (answers[kind] ?? { kind: 'done' }) as LaneAnswer
    },
  }
  const watch = { inclusion: { kind: 'unseen' }, add: () => {}, onChange: () => {}, close: () => {} }
  const chain = { name: 'test', networkId: '1', raises: true, blockTimeMs: 1_000, heads: {}, watch: () => watch } as unknown as Chain
  const deps = { chain, signer: { address: self, sign, check: sign }, ledger, config: { lane: testPolicy().lane }, logger: silentLogger() }
  const agent = new LaneAgent({ ...deps, bumpAfterBlocks: 1 } as unknown as LaneDeps)
  const found = await agent.find(call)
  if (found.kind !== 'acquired') throw new Error(found.detail)
  asked.length = 0
  return { agent, pending: found.pending, asked, first: entry.attempts[0]! }
}

async function askedAfter(code: ErrorCode, own: Parameters<typeof setting>[1] = {}) {
  const { agent, pending, asked } = await setting(() => Promise.reject(new RelayerError(code)), own)
  const error = await pending.signAndSend().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code })
  const isFree = await agent.giveUp(pending, error)
  return { asked, driven: agent.load.pending, isFree }
}

test('a call whose nonce this process drives gets it again, even if its key refuses the call now', async () => {
  const { agent, pending, asked, first } = await setting(() => Promise.reject(new RelayerError('SIGNING_REFUSED')))
  const again = await agent.acquire({ ...call, first, priority: 3, source: 'test' }, { timeoutMs: 60_000 })
  expect([again, asked]).toEqual([{ kind: 'acquired', pending }, []])
})

test('a nonce whose call the key refuses is given back once', async () => {
  expect(await askedAfter('CALL_UNJUSTIFIED')).toEqual({ asked: ['release'], driven: 0, isFree: true })
})

test('a nonce whose call the key refuses is filled if another try may have sent the call', async () => {
  expect(await askedAfter('SIGNING_REFUSED', { maybeSent: true })).toEqual({ asked: ['fill'], driven: 1, isFree: false })
  expect(await askedAfter('HALTED', { maybeSent: true })).toEqual({ asked: ['fill'], driven: 1, isFree: false })
  expect(await askedAfter('SIGNING_REFUSED', { released: 'held' })).toEqual({ asked: ['release', 'fill'], driven: 0, isFree: false })
})

test('a nonce is not filled while the signing service is offline, since another process may sign its call', async () => {
  expect(await askedAfter('SIGNER_OFFLINE', { maybeSent: true })).toEqual({ asked: [], driven: 1, isFree: false })
  expect(await askedAfter('SIGNER_OFFLINE', { released: 'held' })).toEqual({ asked: ['release'], driven: 0, isFree: false })
})
