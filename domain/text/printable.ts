/** Longest text of a stranger that is shown, characters. */
const longest = 300

/** What a stranger wrote, fit to be shown: one line, printable, bounded. */
export function printable(text: string): string {
  return text
    .slice(0, 4 * longest)
    .replace(/[^\x20-\x7e\u00a0-\uffff]/g, ' ')
    .trim()
    .slice(0, longest)
}

/**
 * A line fit for a terminal: what would steer it, or hide something, stands there as its code point (`<U+1B>`): controls, what changes the direction of text or has
 * no width, and halves of characters.
 */
export function harmless(line: string): string {
  return line.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (sign) => `<U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, '0')}>`,
  )
}
