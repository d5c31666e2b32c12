import { laneSchema } from '../../config/schema/lane-schema.ts'
import type { ConfigInput } from '../devnet/relayer-config.ts'

/** Place of the step `broadcast`. `queue`: the lane's queue. `auto`: the admitting process, if possible. */
export const forms = ['queue', 'auto'] as const
export type Form = (typeof forms)[number]

const field = 'broadcast'

/** Makes all lanes broadcast in this form. Throws Error for `auto` if the config schema has no field `broadcast`. */
export function withForm(config: ConfigInput, form: Form): ConfigInput {
  if (!Object.hasOwn(laneSchema.shape, field)) {
    if (form === 'auto') throw new Error('This Portage knows only the form `queue`.')
    return config
  }
  const chains = Object.entries(config.chains).map(([name, chain]) => [
    name,
    { ...chain, lanes: (chain.lanes ?? []).map((lane) => ({ ...lane, [field]: form })) },
  ])
  return { ...config, chains: Object.fromEntries(chains) as ConfigInput['chains'] }
}
