import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeDataFolder } from '../../config/data-folder.ts'
import { loadConfig } from '../../config/load/load.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const least = `
chains:
  ethereum: { family: evm, networkId: 1, nodes: [{ url: 'https://node.example' }], blockTimeMs: 12000 }
bridges: {}
`
const folder = temporaryFolder()

test('the data folder is next to the config file, and made at first use for its user alone', async () => {
  await writeFile(join(folder, 'portage.yaml'), least)
  const { dataFolder } = await loadConfig(join(folder, 'portage.yaml'), {})
  expect(dataFolder).toBe(join(folder, 'portage-data'))
  expect(await makeDataFolder(dataFolder)).toBe(dataFolder)
  expect((await stat(dataFolder)).mode & 0o777).toBe(0o700)
  expect(await readFile(join(dataFolder, '.gitignore'), 'utf8')).toBe('*\n')
  await chmod(dataFolder, 0o750)
  await makeDataFolder(dataFolder)
  expect((await stat(dataFolder)).mode & 0o777).toBe(0o750)
  await writeFile(join(folder, 'portage.yaml'), `dataFolder: elsewhere/of-a\n${least}`)
  expect((await loadConfig(join(folder, 'portage.yaml'), {})).dataFolder).toBe(join(folder, 'elsewhere/of-a'))
})

test('a data folder that cannot be made is an error with its path', async () => {
  await writeFile(join(folder, 'a-file'), '')
  await expect(makeDataFolder(join(folder, 'a-file', 'portage-data'))).rejects.toMatchObject({
    code: 'DATA_FOLDER_UNUSABLE',
    message: expect.stringContaining('a-file') as unknown,
  })
})
