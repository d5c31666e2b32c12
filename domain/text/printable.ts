const longest = 300

/**
 * Characters that control a terminal, that reorder or end a line, or that cannot be seen, and halves of surrogate pairs
 * (Unicode 15, chapter 23; UAX 9). A function, because workflows freeze what modules export, and a global expression
 * writes its `lastIndex`.
 */
export const invisible = (): RegExp => /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** A stranger's text in one printable line of bounded length. */
export function printable(text: string): string {
  return cut(
    text
      .slice(0, 4 * longest)
      .replaceAll(invisible(), ' ')
      .trim(),
    longest,
  )
}

/** The first characters of a text. No surrogate pair is cut in half. */
export function cut(text: string, most: number): string {
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
}

/** Makes a line safe on a terminal: control, invisible and reordering characters become code points (`<U+1B>`). */
export function harmless(line: string): string {
  return line.replaceAll(invisible(), (sign) => `<U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, '0')}>`)
}

export function harmlessLines(text: string): string {
  return text.split('\n').map(harmless).join('\n')
}

/** The text, if a shell takes it as one argument and no option, because strangers choose the ids of runs. */
export function shellWord(text: string): string | undefined {
  return /^[\w./:][\w./:-]*$/.test(text) ? text : undefined
}

/** Makes one line of any value. A run that a person started may lack any field, which must not fail its task. */
export function oneLine(given: unknown): string {
  const text = typeof given === 'string' ? given : (JSON.stringify(given) ?? '')
  return text.replaceAll(invisible(), ' ').replaceAll(/\s+/g, ' ').trim()
}

export function utf8Bytes(character: string): number {
  const point = character.codePointAt(0) ?? 0
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
}
