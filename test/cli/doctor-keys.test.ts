import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { look } from '../../cli/doctor/check.ts'
import { checkKey, operatorCallsFinding } from '../../cli/doctor/chains.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { type Web3Signer, startWeb3Signer } from '../../lab/devnet/signing/web3signer.ts'

const [mine, other] = [devnetAccount(3), devnetAccount(4)]
const chain = { family: 'evm', networkId: 1337 } as const

describe("the doctor has a lane's key sign a no-op", () => {
  let service: Web3Signer

  beforeEach(async () => {
    service = await startWeb3Signer([mine, other])
  })
  afterEach(() => service.stop())

  const check = (address: string) => {
    const signer = { kind: 'remote', url: service.url, timeoutMs: 15_000 } as const
    return look('chain test', 'key', () => checkKey(chain, { address, signer, window: 16, broadcast: 'auto' as const }))
  }

  test('a key that signs passes, and signs once', async () => {
    expect(await check(mine.address)).toMatchObject({ status: 'ok', detail: expect.stringContaining('and signs') })
    expect(service.signatures).toBe(1)
  })

  test.each([
    ['gives no signature', '0x'],
    ['gives the signature of something else', `0x${'11'.repeat(64)}1b`],
  ])('a key that %s fails', async (_, answer) => {
    service.lies.answer = () => answer
    expect(await check(mine.address)).toMatchObject({ status: 'fail', remedy: expect.stringMatching(/./) })
    expect(service.signatures).toBe(1)
  })

  test('a key that signs another transaction fails', async () => {
    service.lies.alter = (data) => `${data.slice(0, -2)}01`
    expect(await check(mine.address)).toMatchObject({ status: 'fail' })
  })

  test('a key on another machine is not checked', async () => {
    expect(await checkKey(chain, { address: mine.address, window: 16, broadcast: 'auto' as const })).toBe('not on this machine')
  })
})

test("the doctor warns of operators' calls whose first arguments are not listed", () => {
  const [contract, other] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`]
  const pinned = `0x095ea7b3${'0'.repeat(64)}`
  expect(operatorCallsFinding({})).toBeUndefined()
  expect(operatorCallsFinding({ operatorCalls: { [contract]: [pinned] } })).toBe('1, each with its first arguments')
  expect(operatorCallsFinding({ operatorCalls: { [contract]: [pinned], [other]: ['0x5c36b186'] } })).toMatchObject({
    status: 'warn',
    detail: expect.stringContaining(`0x5c36b186 of ${other};`),
    remedy: expect.stringContaining('first arguments'),
  })
})
