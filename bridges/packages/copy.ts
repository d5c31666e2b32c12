import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const kitManifest = JSON.stringify({ name: 'portage', type: 'module', exports: { './plugin': './plugin.js' } })

/** The module that a plug-in imports as `portage/plugin`. A release has this module as a file. */
function kitModule(): string {
  const compiled = new URL('../../dist/plugin.js', import.meta.url)
  if (existsSync(compiled)) return `export * from '${compiled.href}'\n`
  const zod = pathToFileURL(createRequire(import.meta.url).resolve('zod')).href
  return `import zod from '${zod}'\nexport const { z } = zod\nexport const plugin = (definition) => definition\n`
}

/** Writes the bytes of a plug-in to a file that exists while `use` runs. `use` gets the URL of the file. */
export async function withCopy<T>(bytes: Uint8Array, use: (url: string) => Promise<T>): Promise<T> {
  // Only this user may enter the folder (mode 0700).
  const folder = await mkdtemp(join(tmpdir(), 'portage-plugin-'))
  try {
    const kit = join(folder, 'node_modules/portage')
    await mkdir(kit, { recursive: true })
    await writeFile(join(kit, 'package.json'), kitManifest)
    await writeFile(join(kit, 'plugin.js'), kitModule())
    await writeFile(join(folder, 'plugin.mjs'), bytes)
    return await use(pathToFileURL(join(folder, 'plugin.mjs')).href)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
