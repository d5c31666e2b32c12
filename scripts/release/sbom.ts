import type { PackageAt } from './packages.ts'
import type { Staged } from './stage.ts'

interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly group?: string
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
}

export interface Sbom {
  readonly bomFormat: string
  readonly serialNumber?: string
  readonly metadata: { readonly timestamp: string; readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/**
 * The property `portage:part` of a component is `compiled` (in the tarball), `installed` (npm installs the package with
 * the tarball) or both. Throws Error for a package that npm's document lacks.
 */
export function releaseSbom(all: Sbom, { name, version, inside, installed }: Staged): Sbom {
  const parts = new Map<string, string>()
  for (const one of inside) parts.set(keyOf(one), 'compiled')
  for (const one of installed) parts.set(keyOf(one), parts.has(keyOf(one)) ? 'compiled, installed' : 'installed')
  const components = all.components.flatMap((one) => {
    const part = parts.get(keyOf(one))
    return part === undefined ? [] : [{ ...one, properties: [...(one.properties ?? []), { name: 'portage:part', value: part }] }]
  })
  const listed = new Set(components.map(keyOf))
  const missing = [...parts.keys()].filter((key) => !listed.has(key))
  if (missing.length > 0) throw new Error(`The lock file does not have ${missing.join(', ')}`)
  const own = all.metadata.component['bom-ref']
  const refs = new Set([own, ...components.map((one) => one['bom-ref'])])
  return {
    ...all,
    metadata: { ...all.metadata, component: { ...all.metadata.component, name, version } },
    components,
    dependencies: all.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
  }
}

function keyOf({ name, version, group }: Pick<Component, 'name' | 'version' | 'group'> | (PackageAt & { group?: undefined })): string {
  return `${group ? `${group}/` : ''}${name}@${version}`
}
