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
