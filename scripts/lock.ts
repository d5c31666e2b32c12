/** Updates package-lock.json, and adds optional packages of other platforms that the registry does not have. */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { completedPackages, type LockedPackage, missingPackages } from './release/lock.ts'
import { npm } from './release/stage.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const file = `${root}package-lock.json`

await npm(['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], root)
const lock = JSON.parse(await readFile(file, 'utf8')) as { packages: Record<string, LockedPackage> }
const added = missingPackages(lock.packages).length
await writeFile(file, `${JSON.stringify({ ...lock, packages: completedPackages(lock.packages) }, undefined, 2)}\n`)
console.log(`${added} packages of other platforms were added without a digest`)
