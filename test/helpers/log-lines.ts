import { readFile } from 'node:fs/promises'
import { parseDocument } from 'yaml'

export type LogLine = Readonly<Record<string, unknown>> & { readonly level: string; readonly message: string }

/**
 * Reads a JSON log. Throws Error if a line is not JSON, or repeats a field name, because JSON.parse would keep only the
 * last value.
 */
export async function logLines(file: string): Promise<LogLine[]> {
  const texts = (await readFile(file, 'utf8')).split('\n').slice(0, -1)
  return texts.map((text) => {
    const [error] = parseDocument(text, { uniqueKeys: true }).errors
    if (error) throw new Error(`${error.message} in the line ${text}`)
    return JSON.parse(text) as LogLine
  })
}
