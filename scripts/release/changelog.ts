const unreleased = '## Unreleased'

/** The same changelog with what was unreleased under a version. Throws Error if there is nothing, or if it has the version. */
export function released(text: string, version: string, day: string): string {
  if (text.includes(`\n## ${version} `)) throw new Error(`CHANGELOG.md has ${version} already`)
  if (changesOf(text, 'Unreleased') === '') throw new Error(`CHANGELOG.md says nothing under "${unreleased}"`)
  return text.replace(unreleased, `${unreleased}\n\n## ${version} (${day})`)
}

/** What is said under the heading of a version, or of `Unreleased`; empty if there is none. */
export function changesOf(text: string, version: string): string {
  const lines = text.split('\n')
  const from = lines.findIndex((line) => line === `## ${version}` || line.startsWith(`## ${version} `))
  if (from < 0) return ''
  const rest = lines.slice(from + 1)
  const to = rest.findIndex((line) => line.startsWith('## '))
  return rest
    .slice(0, to < 0 ? undefined : to)
    .join('\n')
    .trim()
}
