/**
 * A text as a person may copy it within a command: one word, with nothing of a shell's in it, that no command takes for an option. Undefined for any other: whoever
 * reaches Temporal chooses the ids of his runs.
 */
export function shellWord(text: string): string | undefined {
  return /^[\w./:][\w./:-]*$/.test(text) ? text : undefined
}
