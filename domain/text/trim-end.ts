/** The text without the repeated character at its end. Linear, which `/0+$/` is not. */
export function trimEnd(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}
