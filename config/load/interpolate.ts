import { pathText, type Problem } from './problems.ts'

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{[^}]*\}?/g

/** Replaces `${NAME}` in texts with the value of the environment variable. Problems never contain the value. */
export function interpolate(tree: unknown, env: NodeJS.ProcessEnv): { readonly tree: unknown; readonly problems: Problem[] } {
  const problems: Problem[] = []
  const walk = (node: unknown, path: readonly PropertyKey[]): unknown => {
    if (typeof node === 'string') return replace(node, path)
    if (Array.isArray(node)) return node.map((item, index) => walk(item, [...path, index]))
    if (typeof node !== 'object' || node === null) return node
    // Zod would drop a field named `__proto__` without an error.
    if (Object.hasOwn(node, '__proto__'))
      problems.push({ path: pathText([...path, '__proto__']), problem: 'is not a valid name for a field', remedy: 'Rename it.' })
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, walk(value, [...path, key])]))
  }
  const replace = (text: string, path: readonly PropertyKey[]): string =>
    text.replace(reference, (whole, name: string | undefined) => {
      const value = name !== undefined && Object.hasOwn(env, name) ? env[name] : undefined
      if (value) return value
      const about =
        name === undefined
          ? { problem: 'holds a ${…} that is not the name of a variable', remedy: 'Write ${NAME}.' }
          : { problem: `needs the environment variable ${name}, which is not set`, remedy: `Set ${name} before starting.` }
      problems.push({ path: pathText(path), ...about })
      return whole
    })
  return { tree: walk(tree, []), problems }
}
