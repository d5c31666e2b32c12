import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Devnet } from '../devnet/index.ts'
import { nttEffects } from '../devnet/ntt/ntt-effects.ts'
import type { ConfigInput } from '../devnet/relayer-config.ts'
import { until } from '../devnet/until.ts'
import { queuedAbove, type StuckCase, type StuckScene } from './scene.ts'

const pricesFile = ({ dir }: Pick<Devnet, 'dir'>) => join(dir, 'prices.json')

/** A price feed with one file, which has the price of both coins. */
export async function withPrices(devnet: Devnet): Promise<NonNullable<ConfigInput['priceFeed']>> {
  const at = Math.floor(Date.now() / 1_000)
  await writeFile(pricesFile(devnet), JSON.stringify({ at, dollars: { ethereum: '3000', bsc: '3000' } }))
  return { sources: [{ kind: 'file', path: pricesFile(devnet), maxAgeSeconds: 86_400 }], everySeconds: 1 }
}

/** @param url of the signing service with the key of the quoter */
export function withQuoter(bridges: ConfigInput['bridges'], url: string): ConfigInput['bridges'] {
  const { executor } = bridges
  if (!executor) throw new Error('the network has no Executor')
  return { ...bridges, executor: { ...executor, quoter: { ...executor.quoter, signer: { kind: 'remote', url } } } }
}

async function isFinal({ devnet: { chains } }: StuckScene, height: number): Promise<void> {
  const final = async () =>
    Number((await chains.ethereum.anvil.rpc<{ number: string }>('eth_getBlockByNumber', ['finalized', false])).number)
  await until(async () => (await final()) >= height, { timeoutMs: 90_000, everyMs: 50, what: `block ${height} to be final` })
}

/** A user burns a dollar. Resolves when the burn is final. */
async function burn(scene: StuckScene): Promise<void> {
  const { cctp } = scene.devnet
  if (!cctp) throw new Error('the network has no CCTP')
  const [sent] = await cctp.users.ethereum.burn([{ version: 2, amount: 1_000_000n }])
  await isFinal(scene, sent?.height ?? 0)
}

export const productCases: readonly StuckCase[] = [
  {
    ...{ name: 'price-missing', fault: 'the file of prices is missing', code: 'PRICE_MISSING' },
    async make({ devnet }) {
      const file = pricesFile(devnet)
      await rename(file, `${file}.away`)
      return { where: 'executor', mend: () => rename(`${file}.away`, file) }
    },
  },
  {
    ...{ name: 'quoter-offline', fault: "the signing service of the Executor's quoter does not answer", code: 'SIGNER_OFFLINE' },
    async make({ quoter }) {
      if (!quoter) throw new Error('the network has no signing service')
      quoter.mode = 'hang'
      return { where: 'executor', mend: async () => (quoter.mode = 'well') }
    },
  },
  {
    ...{ name: 'ntt-queued', fault: 'an NTT transfer above the inbound limit is in the queue of the manager', code: 'DELIVERY_NOT_DUE' },
    async make(scene) {
      const { ntt } = scene.devnet
      if (!ntt) throw new Error('the network has no NTT')
      const [sent] = await ntt.users.ethereum.send([{ amount: 2n * queuedAbove * 10n ** 8n }])
      const isQueued = async () => (await nttEffects(ntt.ends.bsc).queued(sent?.digest ?? '')) !== undefined
      await until(isQueued, { timeoutMs: 90_000, everyMs: 50, what: 'the transfer to be in the queue' })
      // No repair is needed: Portage completes the transfer once its time in the queue has passed.
      return { where: 'ntt:ethereum:bsc', mend: () => Promise.resolve() }
    },
  },
  {
    ...{ name: 'iris-unattested', fault: "Circle's attesters do not sign a burn", code: 'CCTP_NOT_ATTESTED' },
    async make(scene) {
      const { cctp } = scene.devnet
      cctp?.iris.treat(() => 'hold')
      await burn(scene)
      return { where: 'cctp:ethereum:bsc', mend: () => Promise.resolve(cctp?.iris.treat(() => 'attest')) }
    },
  },
  {
    ...{ name: 'iris-unavailable', fault: "Circle's API refuses all requests, and a burn arrives", code: 'IRIS_UNAVAILABLE' },
    async make(scene) {
      const { cctp } = scene.devnet
      cctp?.iris.api.trouble({ refuse: { status: 503 } })
      await burn(scene)
      return { where: 'cctp:ethereum:bsc', mend: () => Promise.resolve(cctp?.iris.api.trouble()) }
    },
  },
]
