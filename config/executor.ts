import { defined } from '../domain/defined.ts'
import { dollarsOf } from '../domain/text/amounts.ts'
import type { ChainConfig, Config } from './schema/schema.ts'

interface ExecutorConfig extends Pick<Config, 'bridges'> {
  readonly chains: Readonly<Record<string, Pick<ChainConfig, 'wormholeChainId'>>>
}

/**
 * The Executor's part of a config. Undefined if the config has no Executor. `price` and `baseFee` have 10 decimals, as
 * in quotes. `caps` are gas and wei.
 */
export function executorOf({ bridges, chains }: ExecutorConfig) {
  const { executor } = bridges
  if (!executor) return undefined
  const { quoter, chains: named, ...promises } = executor
  const served = Object.entries(named).flatMap(([name, settings]) => {
    const { price, baseFee, maxGasLimit, maxMsgValue, maxGasDropOff, ...contracts } = settings
    const { dropOffContract, nttDropOffContract, cctpV1DropOffContract, cctpV2DropOffContract, ...addresses } = contracts
    const id = chains[name]?.wormholeChainId
    if (id === undefined) return []
    const dropOffs = { ERV1: dropOffContract, ERN1: nttDropOffContract, ERC1: cctpV1DropOffContract, ERC2: cctpV2DropOffContract }
    const target = {
      ...{ name, ...addresses, prefixes: prefixesOf(name, bridges), price: dollarsOf(price) },
      dropOffContracts: defined(dropOffs) as Partial<Record<Prefix, string>>,
      // Rounded up, so that the payer bears the fraction.
      baseFee: (BigInt(baseFee) + weiPerUnit - 1n) / weiPerUnit,
      caps: { maxGasLimit: BigInt(maxGasLimit), maxMsgValue: BigInt(maxMsgValue), maxGasDropOff: BigInt(maxGasDropOff) },
    }
    return [[id, target] as const]
  })
  return { ...promises, quoter: quoter.address, signer: quoter.signer, chains: new Map(served) }
}

type Prefix = 'ERV1' | 'ERN1' | 'ERC1' | 'ERC2'

/** Transfers that Portage delivers for free under this config (`free` of NTT tokens and CCTP) need no requests. */
function prefixesOf(name: string, { ntt, cctp }: ExecutorConfig['bridges']): readonly Prefix[] {
  const isNtt = ntt?.tokens.some(({ free, peers }) => !free && Object.hasOwn(peers, name))
  const { v1, v2 } = (cctp && !cctp.free && cctp.chains[name]) || {}
  return ['ERV1', ...(isNtt ? (['ERN1'] as const) : []), ...(v1 ? (['ERC1'] as const) : []), ...(v2 ? (['ERC2'] as const) : [])]
}

export type ExecutorSettings = NonNullable<ReturnType<typeof executorOf>>

/** Numbers in a quote have 10 decimals. */
const weiPerUnit = 10n ** 8n
