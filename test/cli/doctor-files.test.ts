import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkFiles } from '../../cli/doctor/files.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const dir = temporaryFolder()

test.skipIf(process.platform === 'win32')('files that others may write, and secrets that others may read, are warned of', async () => {
  const [config, data, key] = [join(dir, 'portage.yaml'), join(dir, 'data'), join(dir, 'api-key')]
  await writeFile(config, '')
  await writeFile(key, '')
  await mkdir(data)
  const parsed = configSchema.parse({ chains: {}, bridges: {}, dataFolder: data })
  const temporal = { address: 'a:1', namespace: 'n', apiKey: { from: 'a test', file: key, read: () => '' } }
  const statuses = async (modes: readonly [number, number, number]) => {
    await Promise.all([chmod(config, modes[0]), chmod(data, modes[1]), chmod(key, modes[2])])
    return (await checkFiles(config, parsed, temporal)).map(({ status }) => status)
  }
  expect(await statuses([0o644, 0o700, 0o600])).toEqual(['ok', 'ok', 'ok'])
  expect(await statuses([0o664, 0o720, 0o640])).toEqual(['warn', 'warn', 'warn'])
  expect(await checkFiles(join(dir, 'absent'), { ...parsed, dataFolder: join(dir, 'none') }, { address: 'a:1', namespace: 'n' })).toEqual(
    [],
  )
})
