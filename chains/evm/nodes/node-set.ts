import type { NodeChange } from '../../../domain/settings/settings.ts'
import type { NodeStatus } from '../../port.ts'
import type { NodeClient, NodeSpec } from './node-client.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The configured nodes of a chain, and what operators laid over them; `environment` is for the URLs of added nodes. */
export function createNodeSet(specs: readonly NodeSpec[], make: (spec: NodeSpec) => NodeClient, environment: Environment) {
  const configured = specs.map(make)
  const names = new Set(specs.map(({ name }) => name))
  let added: readonly NodeClient[] = []
  /** Taken out, but perhaps still answering. */
  let retired: readonly NodeClient[] = []
  let broken: readonly NodeStatus[] = []

  function setDisabled(node: NodeClient, disabled: boolean): void {
    if (node.disabled && !disabled) node.forget()
    node.disabled = disabled
  }

  return {
    /** All that are not disabled, in order of preference. */
    get enabled(): readonly NodeClient[] {
      return [...configured, ...added].filter(({ disabled }) => !disabled)
    },
    /** Those of the config, whether they are disabled or not. */
    configured: configured as readonly NodeClient[],
    /** See `Chain.adjustNodes`. Nodes that stay keep all that is known of them, and the calls that they are answering. */
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
    /** See `Chain.nodes`: also those that are disabled, or can't be made. */
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

/** The URL with its variables replaced. A problem names the variable, never a value: a broken URL may hold a key. */
function resolve(url: string, environment: Environment): { url: string } | { problem: string } {
  const missing = [...url.matchAll(/\$\{([^}]*)\}/g)].find(([, name = '']) => !environment[name])
  if (missing) return { problem: `(the variable ${missing[1]} is not set)` }
  const resolved = url.replaceAll(/\$\{([^}]*)\}/g, (_, name: string) => environment[name] ?? '')
  return URL.canParse(resolved) && /^https?:$/.test(new URL(resolved).protocol) ? { url: resolved } : { problem: '(not an http URL)' }
}
