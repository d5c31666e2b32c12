import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../lab/devnet/run.ts'
import { emitPluginTypes, pluginTypes } from '../../scripts/release/plugin-types.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const compiler = createRequire(import.meta.url)
  .resolve('typescript/package.json')
  .replace(/package\.json$/, 'bin/tsc')

const source = (call: string) => `import { plugin, z } from 'portage/plugin'
import type { AuthorDevnet } from 'portage/plugin'

export default plugin({
  name: 'typed',
  version: '1.0.0',
  kit: 1,
  settings: z.strictObject({ target: z.string(), contract: z.string() }),
  create: ({ target, contract }) => ({
    routes: [{ from: 'accepted', to: target, calls: [{ contract, function: 'take(bytes)', proof: 'message' }] }],
    decode: ({ payload }) => ({ length: payload.length }),
    stages: { deliver: { call: ({ bytes }) => (${call}), revertsOnceDone: true } },
    delivered: ({ digest }) => [{ contract, view: 'isTaken(bytes32)', args: [digest], returns: 'bool', is: [true] }],
    parties: ({ content }) => ({ recipient: contract, token: String(content.length) }),
  }),
})

export const send = (devnet: AuthorDevnet): Promise<void> => devnet.publish('ethereum', '0x01')
`

describe('The types of portage/plugin, in the project of an author with moduleResolution nodenext', () => {
  const folder = temporaryFolder()
  const options = { module: 'nodenext', moduleResolution: 'nodenext', target: 'es2022', strict: true, noEmit: true, skipLibCheck: false }

  async function compile(name: string, text: string, more: object = {}) {
    await writeFile(join(folder, name), text)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, types: [], ...more }, files: [name] }))
    return run(process.execPath, [compiler, '-p', folder])
  }

  beforeAll(async () => {
    const installed = join(folder, 'node_modules/portage')
    await mkdir(installed, { recursive: true })
    await emitPluginTypes(join(installed, 'dist/types'))
    const exported = { './plugin': { types: `./dist/types/${pluginTypes}`, default: './dist/plugin.js' } }
    await writeFile(
      join(installed, 'package.json'),
      JSON.stringify({ name: 'portage', version: '1.0.0', type: 'module', exports: exported }),
    )
    await symlink(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'))
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  })

  test('a plug-in in TypeScript compiles', async () => {
    expect(await compile('plugin.ts', source("{ contract, function: 'take(bytes)', args: [bytes] }"))).toMatchObject({
      code: 0,
      stdout: '',
    })
  })

  test('a call without its arguments does not compile', async () => {
    const { code, stdout } = await compile('wrong.ts', source("{ contract, function: 'take(bytes)', arguments: [bytes] }"))
    expect(code).not.toBe(0)
    expect(stdout).toMatch(/wrong\.ts\(\d+,\d+\): error TS2741/)
  })

  test('the template and its test pass the check of their JavaScript', async () => {
    for (const name of ['plugin.mjs', 'plugin.test.mjs']) {
      await cp(join(root, 'bridges/packages/template', name), join(folder, name))
      const text = await readFile(join(folder, name), 'utf8')
      expect(await compile(name, text, { allowJs: true, checkJs: true })).toMatchObject({ code: 0, stdout: '' })
    }
  })
})
