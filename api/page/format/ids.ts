const mostShown = 80

/** Shortens a hash or an address: `0x1f2e3d…5b6a`. */
export function shortHex(text: string): string {
  return /^0x[0-9a-f]{16,}$/i.test(text) ? `${text.slice(0, 8)}…${text.slice(-4)}` : cut(text)
}

/** Shortens the id of a transfer: `269170:6d1b4c0c5f0a3e21`. Every command and the search field accept this form. */
export function shortTransfer(id: string): string {
  const [sequence, digest] = id.split(':').slice(-2)
  return id.split(':').length === 5 && /^[0-9]+$/.test(sequence ?? '') && digest ? cut(`${sequence}:${digest}`) : cut(id)
}

export function laneParts(lane: string): { readonly network: string; readonly address: string | undefined } {
  const [, network, address] = /^([a-z]+-\d+):(0x[0-9a-f]{40})$/i.exec(lane) ?? []
  return { network: network ?? cut(lane), address }
}

export function streamParts(stream: string): { readonly bridge: string; readonly source: string; readonly rest: string } {
  const [bridge = '', source = '', ...rest] = stream.split(':')
  const last = rest.join(':')
  return { bridge: cut(bridge), source: cut(source), rest: /^[0-9a-f]{64}$/.test(last) ? `emitter ${last.slice(-8)}` : cut(last) }
}

function cut(text: string): string {
  return text.length <= mostShown ? text : `${text.slice(0, mostShown - 1)}…`
}
