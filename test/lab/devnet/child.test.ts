import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { startAnvil } from '../../../lab/devnet/chain/anvil.ts'
import { startChild } from '../../../lab/devnet/child.ts'
import { alive } from '../../helpers/alive.ts'

async function parent(): Promise<{ kill(signal: NodeJS.Signals): void; childPid: number }> {
  const module = fileURLToPath(new URL('../../../lab/devnet/child.ts', import.meta.url))
  const code = `const { startChild } = await import(${JSON.stringify(module)})
    const child = await startChild('sleep', ['600'])
    console.log(child.pid)
    await child.exited`
  const started = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  const text = await new Promise<string>((resolve) => started.stdout.once('data', (chunk: Buffer) => resolve(String(chunk))))
  return { kill: (signal) => void started.kill(signal), childPid: Number(text) }
}

describe('a child of the devnet', () => {
  test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
    'a child of the devnet does not outlive a parent that ends by %s',
    async (signal) => {
      const { kill, childPid } = await parent()
      expect(alive(childPid)).toBe(true)
      kill(signal)
      await expect.poll(() => alive(childPid)).toBe(false)
    },
  )

  test('a child that does not end by SIGTERM in time is killed, also while it is suspended', async () => {
    const child = await startChild('sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 0.1; done'])
    await expect.poll(() => child.tail()).toBe('ready')
    child.kill('SIGSTOP')
    await child.stop(100)
    expect(child.ended).toBe('ended by SIGKILL')
  })

  test('a child whose program does not exist is an error and no crash', async () => {
    await expect(startChild('/nonexistent/program', [])).rejects.toThrow('ENOENT')
  })

  test('anvil tags finalized two epochs below the head, and a failure to start quotes its output', async () => {
    const anvil = await startAnvil({ chainId: 1337, blockTimeSeconds: 60, slotsInAnEpoch: 3 })
    for (let mined = 0; mined < 10; mined++) await anvil.rpc('evm_mine')
    const heights = await Promise.all(
      ['latest', 'safe', 'finalized'].map(async (tag) =>
        Number((await anvil.rpc<{ number: string }>('eth_getBlockByNumber', [tag, false])).number),
      ),
    )
    expect(heights).toEqual([10, 7, 4])
    await anvil.stop()
    expect(alive(anvil.pid)).toBe(false)
    await expect(startAnvil({ chainId: 1337, blockTimeSeconds: 1, mnemonic: 'no mnemonic' })).rejects.toMatchObject({
      code: 'NODE_UNAVAILABLE',
    })
  })
})
