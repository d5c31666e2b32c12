import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../../lab/devnet/ports.ts'

const module = fileURLToPath(new URL('../../../lab/devnet/ports.ts', import.meta.url))

// Only on Linux can a port be reserved. On other systems, `freePort` only checks that the port is free.
describe.runIf(process.platform === 'linux')('a free port', () => {
  test('a free port is given once, however many are requested before a server listens', async () => {
    // Of 600 ports chosen at random from 22,000, some would be the same.
    const ports: number[] = []
    while (ports.length < 600) ports.push(await freePort())
    expect(new Set(ports).size).toBe(ports.length)
  })

  test('a port of another process is not given while this lives, and again once it was killed', async () => {
    // The range has only nine ports, so both processes try the same ports.
    const from = 5_000 + Math.floor(Math.random() * 4_000)
    const range = { from, to: from + 8 }
    const program = `
      const { freePort } = await import(${JSON.stringify(module)})
      const range = ${JSON.stringify(range)}
      const ports = []
      while (ports.length < 20) try { ports.push(await freePort(range)) } catch { break }
      console.log(JSON.stringify(ports))
      setInterval(() => {}, 1_000)`
    const other = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(other, 'exit')
    try {
      const [line] = (await once(other.stdout, 'data')) as [Buffer]
      const theirs = JSON.parse(line.toString()) as number[]
      expect(theirs.length).toBeGreaterThan(0)
      await expect(freePort(range)).rejects.toThrow('No free port')
      other.kill('SIGKILL')
      await ended
      expect(theirs).toContain(await freePort(range))
    } finally {
      other.kill('SIGKILL')
    }
  })
})
