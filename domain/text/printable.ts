const longest = 300

/** A stranger's text in one printable line of bounded length. */
export function printable(text: string): string {
  return text
    .slice(0, 4 * longest)
    .replace(/[^\x20-\x7e\u00a0-\uffff]/g, ' ')
    .trim()
    .slice(0, longest)
}

/** Makes a line safe on a terminal: control, invisible and reordering characters become code points (`<U+1B>`). */
export function harmless(line: string): string {
  return line.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (sign) => `<U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, '0')}>`,
  )
}

/** The text, if a shell takes it as one argument and no option, because strangers choose the ids of runs. */
export function shellWord(text: string): string | undefined {
  return /^[\w./:][\w./:-]*$/.test(text) ? text : undefined
}

/** Makes one line of any value. A run that a person started may lack any field, which must not fail its task. */
export function oneLine(given: unknown): string {
  const text = typeof given === 'string' ? given : (JSON.stringify(given) ?? '')
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
}

export function utf8Bytes(character: string): number {
  const point = character.codePointAt(0) ?? 0
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
}
