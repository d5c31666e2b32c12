import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { lockFolder } from '../../../lab/devnet/folder-lock.ts'
import { run } from '../../../lab/devnet/run.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
let dir: string
beforeEach(() => {
  dir = temporaryFolder()
})

describe('two devnets', { timeout: 120_000 }, () => {
  test('a second devnet in a folder is refused, and the error names the first process and a way out', async () => {
    const unlock = await lockFolder(dir)
    const second = await run(process.execPath, ['--import', 'tsx', join(root, 'lab/devnet/main.ts'), '--dir', dir])
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(
      `A devnet already runs in ${dir} (process ${process.pid}). Stop it (Ctrl-C), or use another folder for this devnet`,
    )
    expect(second.stderr).toContain('npm run devnet -- --dir')
    expect(JSON.parse(await readFile(join(dir, 'running.json'), 'utf8'))).toMatchObject({ pid: process.pid })
    await unlock()
    await (
      await lockFolder(dir)
    )()
  })

  test('the lock of a killed process, or a truncated lock, stops no devnet', async () => {
    const program = `import('${new URL('../../../lab/devnet/folder-lock.ts', import.meta.url).href}').then(async ({ lockFolder }) => {
      await lockFolder(${JSON.stringify(dir)}); console.log('locked'); setInterval(() => {}, 1000) })`
    const holder = spawn(process.execPath, ['--import', 'tsx', '-e', program], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    await expect(lockFolder(dir)).rejects.toThrow(`(process ${holder.pid})`)
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    await (
      await lockFolder(dir)
    )()
    await writeFile(join(dir, 'running.json'), '{"pid":')
    await (
      await lockFolder(dir)
    )()
    // The lock has this process's id with a different start time, as if its process had ended and the id had been
    // reused.
    await writeFile(join(dir, 'running.json'), JSON.stringify({ pid: process.pid, startedAt: 'Thu Jan  1 00:00:00 1970' }))
    await (
      await lockFolder(dir)
    )()
  })
})
