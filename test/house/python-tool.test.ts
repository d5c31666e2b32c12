import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pythonTool } from '../../scripts/python-tool.ts'
import { temporaryFolder } from '../helpers/folders.ts'

let folder: string
let place: string
beforeEach(async () => {
  folder = temporaryFolder()
  place = join(folder, 'portage/checker-1.2.3')
  await mkdir(join(place, 'bin'), { recursive: true })
  await mkdir(join(folder, 'path'))
  vi.stubEnv('XDG_CACHE_HOME', folder)
  vi.stubEnv('PATH', `${join(folder, 'path')}:/usr/bin:/bin`)
})
afterEach(async () => {
  vi.unstubAllEnvs()
})

/** Writes a false `python3`. Its `-m venv` makes a folder with a false `pip`, which installs `program`. */
async function pythonWhosePipInstalls(program: string): Promise<void> {
  const pip = `#!/bin/sh\\necho "$@" >>${folder}/asked\\nprintf '${program}' >${place}/bin/checker\\nchmod +x ${place}/bin/checker\\n`
  const venv = `[ "$2" = venv ] || exit 0\nmkdir -p ${place}/bin\nprintf '%b' '${pip.replaceAll("'", `'\\''`)}' >${place}/bin/pip\nchmod +x ${place}/bin/pip\n`
  await writeFile(join(folder, 'path/python3'), `#!/bin/sh\n${venv}`, { mode: 0o755 })
}

test('a program whose Python is gone is installed anew', async () => {
  await writeFile(join(place, 'bin/checker'), '#!/nowhere/python3\n', { mode: 0o755 })
  await pythonWhosePipInstalls('exit 0')
  expect(await pythonTool('checker', '1.2.3')).toEqual({ bin: join(place, 'bin') })
  expect(await readFile(join(folder, 'asked'), 'utf8')).toContain('checker==1.2.3')
})

test('a program that runs is used as it is', async () => {
  await writeFile(join(place, 'bin/checker'), '#!/bin/sh\necho 1.2.3\n', { mode: 0o755 })
  await pythonWhosePipInstalls('exit 1')
  expect(await pythonTool('checker', '1.2.3')).toEqual({ bin: join(place, 'bin') })
  expect(existsSync(join(folder, 'asked'))).toBe(false)
})

test('a program that does not run after it was installed is removed, and the reason is reported', async () => {
  await pythonWhosePipInstalls('exit 1')
  expect(await pythonTool('checker', '1.2.3')).toEqual({
    why: expect.stringContaining('checker cannot be installed, or does not run') as string,
  })
  expect(existsSync(place)).toBe(false)
})
