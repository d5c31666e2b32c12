/** Removes the character from the end of the text in linear time. The pattern `/0+$/` would take quadratic time. */
export function trimEnd(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}
