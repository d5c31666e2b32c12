/** Longest text of a stranger that is shown, characters. */
const longest = 300

/** A stranger's text in one printable line of bounded length. */
export function printable(text: string): string {
  return text
    .slice(0, 4 * longest)
    .replace(/[^\x20-\x7e\u00a0-\uffff]/g, ' ')
    .trim()
    .slice(0, longest)
}

/** A line that is safe on a terminal: code points (`<U+1B>`) replace controls and characters that hide or reorder. */
export function harmless(line: string): string {
  return line.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (sign) => `<U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, '0')}>`,
  )
}

/** A word that is safe to copy into a command, no option. Undefined: another text; strangers choose ids of runs. */
export function shellWord(text: string): string | undefined {
  return /^[\w./:][\w./:-]*$/.test(text) ? text : undefined
}
