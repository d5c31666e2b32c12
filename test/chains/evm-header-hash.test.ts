import { describe, expect, test, vi } from 'vitest'
import { headerHash, readBlock } from '../../chains/evm/heads/blocks.ts'
import { createHeaderCheck } from '../../chains/evm/heads/header-check.ts'

const genesis = {
  parentHash: `0x${'0'.repeat(64)}`,
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: `0x${'0'.repeat(40)}`,
  stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544',
  transactionsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
  receiptsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
  logsBloom: `0x${'0'.repeat(512)}`,
  difficulty: '0x400000000',
  number: '0x0',
  gasLimit: '0x1388',
  gasUsed: '0x0',
  timestamp: '0x0',
  extraData: '0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa',
  mixHash: `0x${'0'.repeat(64)}`,
  nonce: '0x0000000000000042',
  hash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  transactions: [],
}

/** A block as `readBlock` returns it. `fits`: whether its hash is the hash of its header. */
function block(height: number, fits: boolean) {
  const raw = { ...genesis, number: `0x${height.toString(16)}` }
  const hash = headerHash(raw) as string
  return readBlock({ ...raw, hash: fits ? hash : hash.replace(/..$/, hash.endsWith('00') ? '01' : '00') })
}

describe('headers', () => {
  test('a block is refused if a JavaScript Date cannot represent its time', () => {
    const latest = 8_640_000_000_000
    expect(new Date(readBlock({ ...genesis, timestamp: `0x${latest.toString(16)}` }).timestamp * 1_000).toISOString()).toMatch(/^\+275760/)
    for (const seconds of [latest + 1, 2 ** 53 - 1]) {
      expect(() => readBlock({ ...genesis, timestamp: `0x${seconds.toString(16)}` })).toThrow('block timestamp')
    }
  })

  test("the hash of Ethereum's first block follows from its header, and an altered or cut header fails", () => {
    expect(headerHash(genesis)).toBe(genesis.hash)
    for (const field of Object.keys(genesis).filter((name) => name !== 'hash' && name !== 'transactions')) {
      const value = genesis[field as keyof typeof genesis] as string
      const altered = value.replace(/.$/, value.endsWith('1') ? '2' : '1')
      expect(headerHash({ ...genesis, [field]: altered }), field).not.toBe(genesis.hash)
      expect(headerHash({ ...genesis, [field]: undefined }), field).toBeUndefined()
    }
  })

  test('a block of most nodes decides whether header hashes are checked; one node decides nothing', () => {
    const info = vi.fn()
    const check = createHeaderCheck('one', () => 2, { info, warn: vi.fn() })
    check.ofPoll([block(5, false), block(5, true), block(4, true)])
    expect(check.kind).toBe('undecided')
    check.ofPoll([block(6, false), block(5, true), block(5, true)])
    expect(check.kind).toBe('checked')
    expect(info).toHaveBeenCalledWith('hashes of block headers', { chain: 'one', headerHash: 'checked' })
    expect(check.ofPoll([block(6, false), block(5, true)]).map(({ height }) => height)).toEqual([5])
    expect(check.accepts(block(6, false))).toBe(false)
  })

  test('headers are not checked on a chain that hashes them in another way', () => {
    const check = createHeaderCheck('arbitrum', () => 2)
    check.ofPoll([block(5, false), block(5, false), block(5, false)])
    expect(check.kind).toBe('unchecked')
    expect(check.accepts(block(5, false))).toBe(true)
  })

  test('a fork with new header fields does not stop the chain: the majority of ten polls is believed', () => {
    const warn = vi.fn()
    const check = createHeaderCheck('one', () => 2, { info: vi.fn(), warn })
    check.ofPoll([block(5, true), block(5, true), block(5, true)])
    for (let poll = 0; poll < 20; poll++) expect(check.ofPoll([block(6, true), block(6, true), block(6, false)])).toHaveLength(2)
    for (let poll = 0; poll < 9; poll++) expect(check.ofPoll([block(6, true), block(6, false), block(6, false)])).toHaveLength(1)
    expect(check.ofPoll([block(6, true), block(6, false), block(6, false)])).toHaveLength(3)
    expect(check.kind).toBe('unchecked')
    expect(warn).toHaveBeenCalledOnce()
  })
})
