/** A server-sent event (HTML standard, section 9.2). */
export interface StreamEvent {
  readonly name: string
  readonly data: string
  readonly id: string
}

const longest = 1_000_000

/** Parses server-sent events from pieces of text, because the browser's own EventSource cannot send a token. */
export function createEventParser(onEvent: (event: StreamEvent) => void): (piece: string) => void {
  let rest = ''
  let [name, id] = ['', '']
  let data: string[] = []

  const line = (text: string): void => {
    if (text === '') {
      if (data.length > 0) onEvent({ name: name || 'message', data: data.join('\n'), id })
      name = ''
      data = []
      return
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(text) ?? []
    if (field === 'event') name = value
    else if (field === 'data') data.push(value)
    else if (field === 'id' && !value.includes('\0')) id = value
  }

  return (piece) => {
    rest += piece
    // A CR at the end of the text ends no line yet, because it may be the first half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const one of lines) line(one)
    if (rest.length > longest) rest = ''
  }
}
