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

/**
 * A line that is safe on a terminal. Code points (`<U+1B>`) replace controls, characters that change the direction of
 * text or have no width, and halves of characters.
 */
export function harmless(line: string): string {
  return line.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (sign) => `<U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, '0')}>`,
  )
}

/**
 * A text that a person may copy within a command: one word without shell syntax, which no command takes for an option.
 * Undefined for any other text: a stranger with access to Temporal chooses the ids of runs.
 */
export function shellWord(text: string): string | undefined {
  return /^[\w./:][\w./:-]*$/.test(text) ? text : undefined
}
