import { resolveNodeUrl } from '../../../domain/settings/request.ts'
import type { NodeChange } from '../../../domain/settings/settings.ts'
import type { NodeStatus } from '../../port.ts'
import type { NodeClient, NodeSpec } from './node-client.ts'

type Environment = Readonly<Record<string, string | undefined>>

export function createNodeSet(specs: readonly NodeSpec[], make: (spec: NodeSpec) => NodeClient, environment: Environment) {
  const configured = specs.map(make)
  const names = new Set(specs.map(({ name }) => name))
  let added: readonly NodeClient[] = []
  /** Includes removed nodes, because close() must close them too. */
  const made = [...configured]
  let broken: readonly NodeStatus[] = []

  function setDisabled(node: NodeClient, disabled: boolean): void {
    if (node.disabled && !disabled) node.forget()
    node.disabled = disabled
  }

  return {
    configured: configured as readonly NodeClient[],
    get added() {
      return added
    },
    adjust(changes: readonly NodeChange[]) {
      const byName = new Map(changes.map((change) => [change.name, change]))
      for (const node of configured) setDisabled(node, byName.get(node.spec.name)?.disabled ?? false)
      const unusable: NodeStatus[] = []
      const next = [...byName.values()].flatMap((change) => {
        if (names.has(change.name) || change.url === undefined) return []
        const { name, use = 'all' } = change
        const resolved = resolveNodeUrl(change.url, environment)
        if ('problem' in resolved) {
          unusable.push({ name, origin: resolved.problem, use, state: change.disabled ? 'disabled' : 'unknown', failures: 0, added: true })
          return []
        }
        const same = added.find(({ spec }) => spec.name === name && spec.url === resolved.url && spec.use === use)
        const node = same ?? make({ name, url: resolved.url, use, added: true })
        if (!same) made.push(node)
        setDisabled(node, change.disabled)
        return [node]
      })
      added = next
      broken = unusable
    },
    status: (): readonly NodeStatus[] => [...[...configured, ...added].map((node) => node.status()), ...broken],
    close() {
      for (const node of made) node.close()
    },
  }
}
