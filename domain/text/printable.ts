const longest = 300

/**
 * Characters that control a terminal, reorder or end a line, or cannot be seen (Unicode 15 ch. 23; UAX 9). Each call
 * makes a new RegExp, because workflows freeze exports, and a global RegExp writes its `lastIndex`.
 */
export const invisible = (): RegExp => /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

export function printable(text: string): string {
  const visible = text.slice(0, 4 * longest).replaceAll(invisible(), ' ')
  return cut(visible.trim(), longest)
}

/** The first `most` characters. Does not cut a surrogate pair in half. */
export function cut(text: string, most: number): string {
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
}

/** Each invisible character becomes its code point (`<U+1B>`), so that the line is safe for a terminal. */
export function harmless(line: string): string {
  return line.replaceAll(invisible(), (sign) => `<U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, '0')}>`)
}

export function harmlessLines(text: string): string {
  return text.split('\n').map(harmless).join('\n')
}

/**
 * The text if a shell reads it as one argument that is not an option, otherwise undefined. Strangers can choose
 * workflow ids.
 */
export function shellWord(text: string): string | undefined {
  return /^[\w./:][\w./:-]*$/.test(text) ? text : undefined
}

/** The value as one line of text. Takes any value, because a workflow that a person started may lack fields. */
export function oneLine(given: unknown): string {
  const text = typeof given === 'string' ? given : (JSON.stringify(given) ?? '')
  return text.replaceAll(invisible(), ' ').replaceAll(/\s+/g, ' ').trim()
}

export function utf8Bytes(character: string): number {
  const point = character.codePointAt(0) ?? 0
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
}
