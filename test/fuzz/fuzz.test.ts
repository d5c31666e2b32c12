import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzz, type FuzzTarget, tryInput } from '../../lab/fuzz/fuzz.ts'
import { networkTargets } from '../../lab/fuzz/network.ts'
import { targets } from '../../lab/fuzz/targets.ts'

interface Kept {
  readonly target: string
  readonly input: unknown
  readonly why: string
}
const kept = JSON.parse(readFileSync(new URL('../../lab/fuzz/kept.json', import.meta.url), 'utf8')) as readonly Kept[]

async function isRead(read: () => unknown): Promise<boolean> {
  try {
    await read()
    return true
  } catch {
    return false
  }
}

describe('Readers of outside input', () => {
  // The seed changes every week, so that CI does not always try the same inputs.
  const seed = Math.floor(Date.now() / 604_800_000)

  test.each(targets.map((target) => [target.name, target] as const))(
    '%s: junk is refused with a typed error, quickly',
    async (_, target) => {
      expect(await fuzz(target, seed, 150)).toBeUndefined()
    },
  )

  test.each(kept.filter(({ target }) => !networkTargets.includes(target)).map((one) => [one.target, one.why, one] as const))(
    'the reader %s handles a kept finding: %s',
    async (name, _, { input }) => {
      const target = targets.find((one) => one.name === name) as FuzzTarget<unknown> | undefined
      expect(target).toBeDefined()
      await tryInput(target!, input)
    },
  )

  test('most inputs are nearly good: readers get further than their first check', async () => {
    const names = ['vaa', 'native-message', 'ntt-message', 'node-block', 'published-log', 'config', 'settings-orders']
    const ofFiles = ['archive-day', 'archive-progress', 'spending-file', 'key-file', 'token', 'temporal-toml', 'webhook-config']
    const reached: [string, boolean][] = []
    for (const name of [...names, ...ofFiles]) {
      const { input, read } = targets.find((one) => one.name === name) as unknown as FuzzTarget<unknown>
      let isReached = false
      // Reads one sample at a time, because some readers share a file.
      for (const one of fc.sample(input, { numRuns: 150, seed: 3 })) isReached ||= await isRead(() => read(one))
      reached.push([name, isReached])
    }
    expect(reached.filter(([, isReached]) => !isReached)).toEqual([])
  })

  test('files, tokens, command lines, receivers, and answers of signers and nodes each have a fuzz target', () => {
    const names = new Set([...targets.map(({ name }) => name), ...networkTargets])
    const files = ['archive-day', 'archive-progress', 'spending-file', 'key-file', 'config', 'temporal-toml', 'settings-checkpoint']
    const others = [
      'token',
      'command-line',
      'webhook-config',
      'kms-signature',
      'node-answers',
      'settings-orders',
      'remote-signer',
      'node-http',
    ]
    expect([...files, ...others].filter((name) => !names.has(name))).toEqual([])
  })

  test('a reader that throws what it may not is found, with the least input that shows it', async () => {
    const { input, ...rest } = targets.find(({ name }) => name === 'cli-amount') as unknown as FuzzTarget<string>
    const broken = { ...rest, input, read: (text: string) => text.includes('9') && JSON.parse(text.replace('9', '{')) }
    expect(await fuzz(broken, 1, 2_000)).toMatchObject({
      target: 'cli-amount',
      seed: 1,
      error: expect.stringContaining('SyntaxError') as string,
    })
  })
})
