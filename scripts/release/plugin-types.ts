import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../../lab/devnet/run.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const entry = 'bridges/packages/author'
const compiler = createRequire(import.meta.url)
  .resolve('typescript/package.json')
  .replace(/package\.json$/, 'bin/tsc')

/** The file with the types of `portage/plugin`, relative to the folder of `emitPluginTypes`. */
export const pluginTypes = `${entry}.d.ts`

/** Writes the types of `portage/plugin` and all types in them. Throws Error if the declarations do not compile. */
export async function emitPluginTypes(folder: string): Promise<void> {
  const own = await mkdtemp(join(tmpdir(), 'portage-types-'))
  try {
    const options = { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: root, outDir: resolve(folder) }
    const config = { extends: join(root, 'tsconfig.json'), compilerOptions: options, include: [], files: [join(root, `${entry}.ts`)] }
    const typeRoots = [join(root, 'node_modules/@types')]
    const text = JSON.stringify({ ...config, compilerOptions: { ...options, typeRoots } })
    await writeFile(join(own, 'tsconfig.json'), text)
    const { code, stdout, stderr } = await run(process.execPath, [compiler, '-p', join(own, 'tsconfig.json')])
    if (code !== 0) throw new Error(`The types of plug-ins cannot be emitted: ${stdout}${stderr}`)
  } finally {
    await rm(own, { recursive: true })
  }
  const names = await readdir(folder, { recursive: true })
  await Promise.all(names.filter((name) => name.endsWith('.d.ts')).map((name) => toJsSpecifiers(join(folder, name))))
}

/**
 * Changes specifiers from `./file.ts` to `./file.js`, because the TypeScript files do not exist at an author's place.
 */
async function toJsSpecifiers(file: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace(/((?:from|import\()\s*'\.[^']*)\.ts'/g, "$1.js'"))
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  await emitPluginTypes(join(root, '.portage/plugin-types'))
