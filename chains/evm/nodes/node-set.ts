import type { NodeChange } from '../../../domain/settings/settings.ts'
import type { NodeStatus } from '../../port.ts'
import type { NodeClient, NodeSpec } from './node-client.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The configured nodes with the operators' changes. `environment`: for URLs of added nodes. */
export function createNodeSet(specs: readonly NodeSpec[], make: (spec: NodeSpec) => NodeClient, environment: Environment) {
  const configured = specs.map(make)
  const names = new Set(specs.map(({ name }) => name))
  let added: readonly NodeClient[] = []
  /** Removed, but perhaps still answering. */
  let retired: readonly NodeClient[] = []
  let broken: readonly NodeStatus[] = []

  function setDisabled(node: NodeClient, disabled: boolean): void {
    if (node.disabled && !disabled) node.forget()
    node.disabled = disabled
  }

  return {
    get enabled(): readonly NodeClient[] {
      return [...configured, ...added].filter(({ disabled }) => !disabled)
    },
    configured: configured as readonly NodeClient[],
    /** See `Chain.adjustNodes`. Unchanged nodes keep their state and calls. */
    adjust(changes: readonly NodeChange[]) {
      const byName = new Map(changes.map((change) => [change.name, change]))
      for (const node of configured) setDisabled(node, byName.get(node.spec.name)?.disabled ?? false)
      const unusable: NodeStatus[] = []
      const next = [...byName.values()].flatMap((change) => {
        if (names.has(change.name) || change.url === undefined) return []
        const { name, use = 'all' } = change
        const resolved = resolve(change.url, environment)
        if ('problem' in resolved) {
          unusable.push({ name, origin: resolved.problem, use, state: change.disabled ? 'disabled' : 'unknown', failures: 0, added: true })
          return []
        }
        const same = added.find(({ spec }) => spec.name === name && spec.url === resolved.url && spec.use === use)
        const node = same ?? make({ name, url: resolved.url, use })
        setDisabled(node, change.disabled)
        return [node]
      })
      retired = [...retired, ...added.filter((node) => !next.includes(node))]
      added = next
      broken = unusable
    },
    /** See `Chain.nodes`. Includes disabled and unusable nodes. */
    status: (): readonly NodeStatus[] => [
      ...configured.map((node) => node.status()),
      ...added.map((node) => ({ ...node.status(), added: true })),
      ...broken,
    ],
    close() {
      for (const node of [...configured, ...added, ...retired]) node.close()
    },
  }
}

/** A problem names the variable but no value, which may be a key. */
function resolve(url: string, environment: Environment): { url: string } | { problem: string } {
  const missing = [...url.matchAll(/\$\{([^}]*)\}/g)].find(([, name = '']) => !environment[name])
  if (missing) return { problem: `(the variable ${missing[1]} is not set)` }
  const resolved = url.replaceAll(/\$\{([^}]*)\}/g, (_, name: string) => environment[name] ?? '')
  return URL.canParse(resolved) && /^https?:$/.test(new URL(resolved).protocol) ? { url: resolved } : { problem: '(not an http URL)' }
}
