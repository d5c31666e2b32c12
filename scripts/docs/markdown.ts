/** A Markdown table. Pipes in cells are escaped, because they would break the table. */
export function markdownTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [row(headings), row(headings.map(() => '---')), ...rows.map(row)].join('\n')
}

export function wrapped(text: string, indent = ''): string {
  return fill(text, 120, indent).join('\n')
}

/** The words of a text in lines of at most `width` characters, unless a word is longer. `indent` begins later lines. */
export function fill(text: string, width: number, indent = ''): string[] {
  const [first = '', ...words] = text.trim().split(/\s+/)
  const lines = [first]
  for (const word of words) {
    const line = `${lines.at(-1)} ${word}`
    if (line.length <= width) lines[lines.length - 1] = line
    else lines.push(`${indent}${word}`)
  }
  return lines
}
