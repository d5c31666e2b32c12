import type { ConfigInput } from '../devnet/relayer-config.ts'

/** Where `broadcast` runs. queue: a regular activity on the lane's queue, the durable form. */
export const forms = ['queue'] as const
export type Form = (typeof forms)[number]

/** The config of a relayer in this form. */
export function withForm(config: ConfigInput, _form: Form): ConfigInput {
  // The durable form is the only one that the config has.
  return config
}
