/** A Markdown table. Pipes in cells are escaped, because they would break the table. */
export function markdownTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [row(headings), row(headings.map(() => '---')), ...rows.map(row)].join('\n')
}

/** Groups the items by key. The groups are in the order of their first items. */
export function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

export function wrapped(text: string, indent = ''): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= 120) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(line === undefined ? word : `${indent}${word}`)
  }
  return lines.join('\n')
}
