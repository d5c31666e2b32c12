const replaced: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** A text as the content of an element or of a quoted attribute. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (one) => replaced[one] ?? '')
}
