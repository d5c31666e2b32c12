/** Longest text of somebody else that is shown in a table. */
const mostShown = 80

/** `0x1f2e3d…5b6a`: the ends of a hash or an address. Shorter texts are left as they are. */
export function shortHex(text: string): string {
  return /^0x[0-9a-f]{16,}$/i.test(text) ? `${text.slice(0, 8)}…${text.slice(-4)}` : cut(text)
}

/**
 * A transfer's id for a table: bridge, source, the ends of the emitter, the sequence. The whole id is where it leads. One of another form is cut.
 */
export function shortTransfer(id: string): string {
  const [bridge, source, emitter = '', sequence, digest, ...more] = id.split(':')
  if (!digest || more.length > 0 || !/^[0-9a-f]{64}$/.test(emitter)) return cut(id)
  const known: Readonly<Record<string, string>> = { 'wormhole-token-bridge': 'wormhole', 'native-bridge': 'native' }
  return `${Object.hasOwn(known, bridge ?? '') ? known[bridge ?? ''] : bridge}:${source}:${emitter.slice(-6)}:${sequence}`
}

/** `evm-1:0x5290…9ee7` as its network and its address. */
export function laneParts(lane: string): { readonly network: string; readonly address: string | undefined } {
  const [, network, address] = /^([a-z]+-\d+):(0x[0-9a-f]{40})$/i.exec(lane) ?? []
  return { network: network ?? cut(lane), address }
}

/** A stream's id in words: which bridge, from where, and to where or from whom. */
export function streamParts(stream: string): { readonly bridge: string; readonly source: string; readonly rest: string } {
  const [bridge = '', source = '', ...rest] = stream.split(':')
  const last = rest.join(':')
  return { bridge: cut(bridge), source: cut(source), rest: /^[0-9a-f]{64}$/.test(last) ? `emitter ${last.slice(-8)}` : cut(last) }
}

function cut(text: string): string {
  return text.length <= mostShown ? text : `${text.slice(0, mostShown - 1)}…`
}
