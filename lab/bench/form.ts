import { laneSchema } from '../../config/schema/lane-schema.ts'
import type { ConfigInput } from '../devnet/relayer-config.ts'

/**
 * Where the step `broadcast` runs. queue: in a worker of the lane's queue, the durable form. auto: in the process that
 * admitted the transfer, if it can.
 */
export const forms = ['queue', 'auto'] as const
export type Form = (typeof forms)[number]

const field = 'broadcast'

/**
 * The config of a relayer whose lanes all broadcast in this form. Throws Error for `auto` if the config knows only the
 * durable form.
 */
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
