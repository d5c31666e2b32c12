import type { Config } from '../../config/schema/schema.ts'
import type { ConfiguredChain as Reader } from '../../chains/registry.ts'
import { numberOfUnconfigured } from '../../domain/transfer/transfer.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { NttDeployment } from '../../bridges/ntt/ntt.ts'
import { type ChainCheck, type Check, fail, type Finding, lookOnChains, viewsOf, warn } from './check.ts'

const remedy = 'Correct peers of this token in bridges.ntt. Until then its messages revert, or are not delivered.'

export function checkTokens(config: Config): Promise<Check[]> {
  const numberOf = (chain: string) => Number(numberOfUnconfigured(chain) ?? config.chains[chain]?.wormholeChainId)
  const checks = (config.bridges.ntt?.tokens ?? []).flatMap((token, index) =>
    Object.keys(token.peers).map((chain): ChainCheck => {
      return { chain, area: 'bridge ntt', name: `token ${index} on ${chain}`, at: (reader) => tokenFinding(reader, token, numberOf) }
    }),
  )
  return lookOnChains(config, checks)
}

export async function tokenFinding(
  reader: Pick<Reader, 'name' | 'call' | 'hasCode'>,
  { peers }: NttDeployment,
  numberOf: (chain: string) => number,
): Promise<Finding> {
  const { [reader.name]: own, ...others } = peers
  if (!own) return 'no contract here'
  const [manager, ...transceivers] = [own.manager, ...own.transceivers].map((word) => `0x${word.slice(24)}`) as [string, ...string[]]
  for (const contract of [manager, ...transceivers]) if (!(await reader.hasCode(contract))) return fail(`${contract} has no code`, remedy)
  const view = viewsOf(reader)
  try {
    const enabled = ((await view(manager, 'getTransceivers()', 'address[]')) as readonly string[]).map((one) => one.toLowerCase())
    for (const [place, transceiver] of transceivers.entries()) {
      if (!enabled.includes(transceiver)) return fail(`${transceiver} is not a transceiver of ${manager}`, remedy)
      for (const [chain, other] of Object.entries(others)) {
        const expected = other.transceivers[place]
        const peer = String(await view(transceiver, 'getWormholePeer(uint16)', 'bytes32', numberOf(chain))).slice(2)
        if (expected !== undefined && peer !== expected)
          return fail(`the peer of ${transceiver} on ${chain} is ${peer}, not ${expected}`, remedy)
      }
    }
    for (const [chain, other] of Object.entries(others)) {
      const [peer] = (await view(manager, 'getPeer(uint16)', 'tuple(bytes32,uint8)', numberOf(chain))) as readonly [string]
      if (peer.slice(2) !== other.manager)
        return fail(`the peer of ${manager} on ${chain} is ${peer.slice(2)}, not ${other.manager}`, remedy)
    }
    const threshold = Number(await view(manager, 'getThreshold()', 'uint8'))
    const detail = `${manager}, ${threshold} of ${enabled.length} transceivers must attest`
    if ((await view(manager, 'isPaused()', 'bool')) === true)
      return warn(`${detail}; it is paused`, 'None needed: transfers wait until its owner resumes it.')
    if (threshold <= transceivers.length) return detail
    const addOthers = 'Add the other WormholeTransceivers to the config. Attestations of other kinds of transceivers come from others.'
    return warn(`${detail}; the config has ${transceivers.length}, so its messages alone pay nobody`, addOthers)
  } catch (error) {
    return fail(`${manager} or its transceiver does not answer as NTT does: ${toRelayerError(error).message}`, remedy)
  }
}
