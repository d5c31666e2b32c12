export interface LockedPackage {
  readonly version: string
  readonly license?: string
  readonly dev?: true
  readonly optional?: true
  readonly engines?: Readonly<Record<string, string>>
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

type Packages = Readonly<Record<string, LockedPackage>>

/**
 * Optional packages that the lock file lacks, because npm leaves out packages that the registry does not have.
 * `sibling`: another optional package of the same parent, with the same licence and engines.
 */
export function missingPackages(packages: Packages) {
  return Object.entries(packages).flatMap(([parent, { optionalDependencies = {} }]) => {
    const found = new Map(Object.keys(optionalDependencies).map((name) => [name, locate(packages, parent, name)]))
    const siblings = [...found.values()].filter((one) => one !== undefined)
    const [sibling] = siblings
    return Object.entries(optionalDependencies).flatMap(([name, version]) => {
      if (found.get(name)) return []
      if (!sibling) throw new Error(`${name}: the lock file has no build of ${parent} for any platform`)
      return [{ name, version, sibling, saysLibc: siblings.some(({ libc }) => libc) }]
    })
  })
}

/** Finds a package where Node would find it: in the folder of the parent, or in a folder above. */
function locate(packages: Packages, parent: string, name: string): LockedPackage | undefined {
  for (let folder = parent; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const found = packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`]
    if (found || folder === '') return found
  }
}

const platform =
  /(android|darwin|freebsd|linux|openbsd|openharmony|win32)-(arm|arm64|amd64|x64|ia32|ppc64|riscv64|s390x|loong64)(?:-(gnu|musl|eabi|gnueabihf|musleabihf|msvc))?$/

/** The packages in npm's order, with the missing ones, which have a version and a platform but no digest. */
export function completedPackages(packages: Packages): Record<string, LockedPackage> {
  const added = missingPackages(packages).map(({ name, version, sibling: { dev, license, engines }, saysLibc }) => {
    const [, os = '', cpu = '', abi] = platform.exec(name) ?? []
    if (os === '' || !/^\d/.test(version)) throw new Error(`${name}@${version}: not an exact version for one platform`)
    const libc = saysLibc && os === 'linux' && abi !== undefined && { libc: [abi.startsWith('musl') ? 'musl' : 'glibc'] }
    const entry: LockedPackage = {
      ...{ version, cpu: [cpu === 'amd64' ? 'x64' : cpu], ...(dev && { dev }), ...libc },
      ...{ ...(license !== undefined && { license }), optional: true, os: [os], ...(engines && { engines }) },
    }
    return [`node_modules/${name}`, entry] as const
  })
  return Object.fromEntries([...Object.entries(packages), ...added].toSorted(([a], [b]) => a.localeCompare(b, 'en')))
}
