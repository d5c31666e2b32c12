import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

/** An npm package that the release contains, or that npm installs with the release. */
export interface PackageAt {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly folder: string
}

/** Licences of packages whose package.json does not name a licence. */
const saidElsewhere: Readonly<Record<string, string>> = { unionfs: 'Unlicense' }

export const allowedLicences: ReadonlySet<string> = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC-BY-4.0', 'CC0-1.0', 'ISC', 'MIT', 'Unlicense'],
])

/** Whether an SPDX expression allows use: all its licences are allowed or, with `OR`, at least one. */
export function isAllowed(license: string): boolean {
  const text = license.replaceAll(/[()]/g, '')
  return text.split(' OR ').some((choice) => choice.split(' AND ').every((one) => allowedLicences.has(one.trim())))
}

export function packagesOf(files: readonly string[]): PackageAt[] {
  const folders = new Set(files.flatMap((file) => folderOf(file) ?? []))
  return [...folders].map(packageAt).toSorted(byName)
}

/**
 * These packages with all their dependencies, as installed here. Throws Error if a package is missing and not optional.
 */
export function withDependencies(names: readonly string[], from: string): PackageAt[] {
  const found = new Map<string, PackageAt>()
  const add = (name: string, near: string, optional: boolean) => {
    const folder = installedAt(name, near)
    if (folder === undefined) {
      if (optional) return
      throw new Error(`${name} is not installed`)
    }
    if (found.has(folder)) return
    found.set(folder, packageAt(folder))
    const { dependencies = {}, optionalDependencies = {} } = manifestOf(folder)
    for (const next of Object.keys(dependencies)) add(next, folder, next in optionalDependencies)
  }
  for (const name of names) add(name, from, false)
  return [...found.values()].toSorted(byName)
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function packageAt(folder: string): PackageAt {
  const { name, version, license } = manifestOf(folder)
  return { name, version, license: license ?? saidElsewhere[name] ?? 'unknown', folder }
}

/** `…/node_modules/@scope/name/lib/x.js` → `…/node_modules/@scope/name`. Undefined for files of Portage and esbuild. */
function folderOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined
  const match = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(realpathSync(file))
  return match?.[1]
}

function installedAt(name: string, near: string): string | undefined {
  for (let folder = realpathSync(near); ; folder = dirname(folder)) {
    const here = folder.endsWith(`${sep}node_modules`) ? join(folder, name) : join(folder, 'node_modules', name)
    if (existsSync(join(here, 'package.json'))) return realpathSync(here)
    if (dirname(folder) === folder) return undefined
  }
}

function byName(a: PackageAt, b: PackageAt): number {
  return `${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1
}
