const unreleased = '## Unreleased'

/** Moves the changelog's unreleased part under a version. Throws Error if the part is empty or the version exists. */
export function released(text: string, version: string, day: string): string {
  if (text.includes(`\n## ${version} `)) throw new Error(`CHANGELOG.md has ${version} already`)
  if (changesOf(text, 'Unreleased') === '') throw new Error(`CHANGELOG.md has no text under "${unreleased}"`)
  return text.replace(unreleased, `${unreleased}\n\n## ${version} (${day})`)
}

/** The text under the heading of a version or of `Unreleased`. Empty if the heading is missing. */
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
