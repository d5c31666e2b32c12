import { createAttesters } from '../../bridges/cctp/attesters.ts'
import { cctpChains } from '../../bridges/cctp/bridge.ts'
import type { CctpVersion } from '../../bridges/cctp/message.ts'
import type { CctpChain, CctpContracts } from '../../bridges/cctp/routes.ts'
import type { ConfiguredChain as Reader } from '../../chains/registry.ts'
import type { Config } from '../../config/schema/schema.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { type ChainCheck, type Check, fail, type Finding, lookOnChains, viewsOf, warn } from './check.ts'
import { checkApi } from './services.ts'

const area = 'bridge cctp'
const remedy = "Correct the contracts or the domain of this chain in bridges.cctp. Circle's documents list them."

export async function checkCctp(config: Config): Promise<Check[]> {
  const { cctp } = config.bridges
  if (!cctp) return []
  const ends = cctpChains(cctp, config.chains)
  const apis = cctp.attestationApis.map((url) => checkApi(area, 'attestation API', url, 'v2/publicKeys', 'attestationApis'))
  const contracts = ends.flatMap((end) =>
    ([1, 2] as const).flatMap((version): ChainCheck[] => {
      const { chain, contracts } = end
      const own = contracts[version]
      if (!own) return []
      return [{ chain, area, name: `v${version} on ${chain}`, at: (reader) => cctpFinding(reader, end, { version, own, ends }) }]
    }),
  )
  return (await Promise.all([...apis, lookOnChains(config, contracts)])).flat()
}

interface Compared {
  readonly version: CctpVersion
  readonly own: CctpContracts
  readonly ends: readonly CctpChain[]
}

export async function cctpFinding(
  reader: Pick<Reader, 'name' | 'call' | 'hasCode'>,
  { domain }: Pick<CctpChain, 'domain'>,
  { version, own, ends }: Compared,
): Promise<Finding> {
  const messenger = `0x${own.tokenMessenger.slice(26)}`
  for (const contract of [own.transmitter, messenger]) if (!(await reader.hasCode(contract))) return fail(`${contract} has no code`, remedy)
  const view = viewsOf(reader)
  try {
    const actual = [await view(own.transmitter, 'localDomain()', 'uint32'), await view(own.transmitter, 'version()', 'uint32')].map(Number)
    if (actual[0] !== domain) return fail(`${own.transmitter} belongs to domain ${actual[0]}, not ${domain}`, remedy)
    if (actual[1] !== version - 1) return fail(`${own.transmitter} is not of v${version}`, remedy)
    const calls = String(await view(messenger, 'localMessageTransmitter()', 'address')).toLowerCase()
    if (calls !== own.transmitter) return fail(`${messenger} belongs to the MessageTransmitter ${calls}`, remedy)
    for (const { chain, domain: other, contracts } of ends) {
      const expected = contracts[version]?.tokenMessenger
      if (other === domain || expected === undefined) continue
      const remote = String(await view(messenger, 'remoteTokenMessengers(uint32)', 'bytes32', other))
      if (remote !== expected) return fail(`the TokenMessenger of ${chain} is ${remote} for ${messenger}, not ${expected}`, remedy)
    }
    const { threshold, enabled } = await createAttesters(reader, own.transmitter)()
    const detail = `${own.transmitter}, ${threshold} of ${enabled.size} attesters must sign`
    if ((await view(own.transmitter, 'paused()', 'bool')) !== true) return detail
    return warn(`${detail}; it is paused`, 'None needed: transfers wait until Circle resumes it.')
  } catch (error) {
    return fail(`${own.transmitter} or its TokenMessenger does not answer as CCTP does: ${toRelayerError(error).message}`, remedy)
  }
}
