import { spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { findTemporalCli } from '../../../lab/devnet/temporal/temporal-cli.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

const script = '#!/bin/sh\necho "temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)"\n'

describe('the search for the Temporal CLI', () => {
  let dir: string
  let lines: string[]
  const log = (line: string) => void lines.push(line)

  beforeEach(async () => {
    dir = temporaryFolder()
    lines = []
    await mkdir(join(dir, 'bin'))
    await mkdir(join(dir, 'cache'))
  })

  async function program(folder: string, text = script): Promise<string> {
    const path = join(dir, folder, 'temporal')
    await writeFile(path, text)
    await chmod(path, 0o755)
    return path
  }

  function find(env: NodeJS.ProcessEnv) {
    return findTemporalCli({ env, log, cacheDir: join(dir, 'cache'), downloadTimeoutMs: 1 })
  }

  test('the Temporal CLI is TEMPORAL_CLI, else on PATH, else the kept one, and the log says which', async () => {
    const own = await program('bin')
    const kept = await program('cache')
    expect(await find({ TEMPORAL_CLI: own, PATH: join(dir, 'cache') })).toMatchObject({ path: own, origin: 'TEMPORAL_CLI' })
    expect(await find({ PATH: `${join(dir, 'none')}:${join(dir, 'bin')}` })).toMatchObject({ path: own, origin: 'PATH' })
    expect(await find({ PATH: join(dir, 'none') })).toMatchObject({ path: kept, origin: 'cache' })
    expect(lines.at(-1)).toBe(`Temporal CLI: ${kept} (from cache; temporal version 1.5.1 (Server 1.29.1, UI 2.42.1))`)
  })

  test('the set-up prints no line about the Temporal CLI, because the command after it does', async () => {
    const own = await program('bin')
    const args = ['--import', 'tsx', 'lab/devnet/temporal/temporal-cli.ts']
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, TEMPORAL_CLI: own } })
    expect([stdout, stderr]).toEqual([`${own}\n`, ''])
  })

  test('a TEMPORAL_CLI that does not work is never replaced', async () => {
    await program('bin')
    const finding = find({ TEMPORAL_CLI: join(dir, 'typo'), PATH: join(dir, 'bin') })
    await expect(finding).rejects.toMatchObject({
      code: 'SETUP_INCOMPLETE',
      message: expect.stringContaining('typo is not a Temporal CLI'),
    })
  })

  test('another program with the name of the Temporal CLI is passed over', async () => {
    await program('bin', '#!/bin/sh\necho "temporal: a calendar"\n')
    const kept = await program('cache')
    expect(await find({ PATH: join(dir, 'bin') })).toMatchObject({ path: kept, origin: 'cache' })
  })

  test('the Temporal CLI is built with Go if nothing else works, and kept', async () => {
    await copyFile(await program('cache'), join(dir, 'made'))
    await rm(join(dir, 'cache', 'temporal'))
    const go = `#!/bin/sh\n[ "$1" = version ] || /bin/cp "${join(dir, 'made')}" "$GOBIN/temporal"\n`
    await writeFile(join(dir, 'bin', 'go'), go)
    await chmod(join(dir, 'bin', 'go'), 0o755)
    expect(await find({ PATH: join(dir, 'bin') })).toMatchObject({ path: join(dir, 'cache', 'temporal'), origin: 'go-install' })
    expect(await find({ PATH: join(dir, 'none') })).toMatchObject({ origin: 'cache' })
  })

  test('the error without a Temporal CLI explains all three ways', async () => {
    const error = await find({ PATH: join(dir, 'none') }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'SETUP_INCOMPLETE' })
    expect(String(error)).toMatch(/no `temporal` on PATH; SDK download: .*; go install: Go is not installed\. Three ways/)
  })

  test('the error for a read-only cache names the variable of the cache and does not ask for Go', async () => {
    // A file in place of a folder: no user can write below it, not even root.
    await writeFile(join(dir, 'home'), '')
    const env = { PATH: join(dir, 'none'), XDG_CACHE_HOME: join(dir, 'home') }
    const error = await findTemporalCli({ env, log, downloadTimeoutMs: 1 }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'SETUP_INCOMPLETE' })
    expect(String(error)).toMatch(
      /home\/portage\/bin, cannot be written \(ENOTDIR\)\. Set XDG_CACHE_HOME to a folder that you may write to/,
    )
    expect(String(error)).not.toContain('Go 1.24')
  })
})
