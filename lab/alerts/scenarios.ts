import { Wallet } from 'ethers'
import { namesOf } from '../../config/chains.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { changeSettings, readSettings } from '../../temporal/client/settings/settings.ts'
import { setLaneMode } from '../../temporal/client/lanes/lanes.ts'
import type { LaneMode } from '../../temporal/contracts/lane.ts'
import { listStreamNames, sendStreamOrder } from '../../temporal/client/streams/streams.ts'
import { orderOfNotifier } from '../../temporal/client/settings/notifiers.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { Devnet } from '../devnet/index.ts'
import type { NodeFault } from '../devnet/fault-proxy/rules.ts'
import type { LaneKey } from '../devnet/relayer-config.ts'
import type { AlertReceiver } from './receiver.ts'
import type { RoleFleet } from './role-fleet.ts'

export interface AlertScene {
  readonly devnet: Devnet
  readonly client: TemporalClient
  readonly fleet: RoleFleet
  readonly receiver: AlertReceiver
}

/** A fault and the alert that the fault must fire. The alerts in `consequences` may fire too. */
export interface Scenario {
  readonly fault: string
  readonly alert: string
  readonly labels?: Readonly<Record<string, string>>
  readonly consequences?: readonly string[]
  /** Whether users send transfers during the fault. False if waiting transfers would fire another alert. */
  readonly traffic: boolean
  inject(scene: AlertScene): Promise<() => Promise<unknown>>
}

const order = { by: 'alerts-live', reason: 'a fault run' }
const enough = `0x${(10n ** 22n).toString(16)}`
const laneOf = ({ lanes }: Devnet, chain: string) => lanes.find((lane) => lane.chain === chain) as LaneKey
const laneIdOf = (devnet: Devnet) => laneId('evm', devnet.chains.bsc.anvil.chainId, laneOf(devnet, 'bsc').address)

function nodes(fault: NodeFault, ...indexes: readonly number[]): Scenario['inject'] {
  return ({ devnet }) => {
    const rules = indexes.map((index) => devnet.nodes.bsc[index]?.add({ fault }))
    return Promise.resolve(async () => rules.forEach((rule) => rule?.end()))
  }
}

function laneMode(mode: LaneMode, back: LaneMode): Scenario['inject'] {
  return async ({ devnet, client }) => {
    await setLaneMode(client, laneIdOf(devnet), mode, order)
    return () => setLaneMode(client, laneIdOf(devnet), back, order)
  }
}

function missing(name: string): Scenario['inject'] {
  return async ({ fleet }) => {
    await fleet.kill(name)
    return () => fleet.whole()
  }
}

/**
 * A fault in which the receiver answers with `status`. When the fault ends, the order `enable` makes Portage send all
 * waiting notifications immediately.
 */
function receiverAnswers(status: number): Scenario['inject'] {
  return ({ client, receiver }) => {
    receiver.answer = status
    return Promise.resolve(async () => {
      receiver.answer = 204
      await orderOfNotifier(client, receiver.configured.name, { kind: 'enable', order })
    })
  }
}

const chain = { chain: 'bsc' }
/** Each chain has one key and three nodes, of which two are a majority. */
export const scenarios: readonly Scenario[] = [
  { fault: 'a node is dead', alert: 'PortageNodeDown', labels: chain, traffic: true, inject: nodes({ kind: 'cut' }, 2) },
  { fault: 'a node lags', alert: 'PortageNodeLags', labels: chain, traffic: true, inject: nodes({ kind: 'behind', blocks: 12 }, 1) },
  {
    ...{ fault: 'most nodes are dead', alert: 'PortageNoQuorum', labels: chain, traffic: false },
    consequences: ['PortageNodeDown'],
    inject: nodes({ kind: 'cut' }, 0, 1),
  },
  {
    ...{ fault: 'all nodes are dead', alert: 'PortageNodesDown', labels: chain, traffic: false },
    consequences: ['PortageNodeDown', 'PortageNoQuorum', 'PortageChainStalled', 'PortageRoleNotReady', 'PortageProcessNotReady'],
    inject: nodes({ kind: 'cut' }, 0, 1, 2),
  },
  {
    ...{ fault: 'the chain stalls', alert: 'PortageChainStalled', labels: chain, traffic: false },
    inject: async ({ devnet }) => {
      const { anvil } = devnet.chains.bsc
      await anvil.rpc('evm_setIntervalMining', [0])
      return () => anvil.rpc('evm_setIntervalMining', [1])
    },
  },
  {
    ...{ fault: 'a lane is out of funds', alert: 'PortageLaneWithoutFunds', traffic: true },
    inject: async ({ devnet }) => {
      const { anvil } = devnet.chains.bsc
      const { address } = laneOf(devnet, 'bsc')
      await anvil.rpc('anvil_setBalance', [address, '0x1'])
      return () => anvil.rpc('anvil_setBalance', [address, enough])
    },
  },
  { fault: 'a lane is paused', alert: 'PortageLanePaused', traffic: false, inject: laneMode('pause', 'resume') },
  {
    ...{ fault: 'another program uses a key', alert: 'PortageExternalNonce', traffic: true },
    inject: async ({ devnet }) => {
      const { anvil } = devnet.chains.bsc
      const { address, privateKey } = laneOf(devnet, 'bsc')
      const nonce = Number(await anvil.rpc<string>('eth_getTransactionCount', [address, 'latest']))
      const fees = { maxFeePerGas: 500_000_000_000n, maxPriorityFeePerGas: 100_000_000_000n }
      const raw = await new Wallet(privateKey).signTransaction({
        ...{ type: 2, chainId: anvil.chainId, nonce, to: address, value: 0n, gasLimit: 21_000n, ...fees },
      })
      await anvil.rpc('eth_sendRawTransaction', [raw])
      return () => Promise.resolve()
    },
  },
  {
    ...{ fault: 'a stream is paused', alert: 'PortageStreamPaused', traffic: false },
    inject: async ({ client }) => {
      const [stream = ''] = (await listStreamNames(client)).filter((name) => name.startsWith('native-bridge'))
      const send = (kind: 'pause' | 'resume') => sendStreamOrder(client, stream, { requests: [{ kind, order }] })
      await send('pause')
      return () => send('resume')
    },
  },
  {
    ...{ fault: 'a route is halted', alert: 'PortageHalted', traffic: false },
    // Halted transfers stay open, so the stream's watermark does not move, which may fire this alert too.
    consequences: ['PortageStreamWatermarkStalled'],
    inject: async ({ client, devnet }) => {
      const scope = { targetChain: 'bsc' }
      const known = namesOf(configSchema.parse(devnet.relayerConfig()))
      const change = (kind: 'halt' | 'unhalt') => changeSettings(client, known, { ...order, orders: [{ kind, scope }] })
      await change('halt')
      return async () => {
        await change('unhalt')
        if ((await readSettings(client)).halts.length > 0) throw new Error('the halt is still in force')
      }
    },
  },
  {
    ...{ fault: 'the spy is down', alert: 'PortageSpyDisconnected', traffic: true },
    inject: async ({ devnet }) => {
      await devnet.guardian.spy.stop()
      return () => devnet.guardian.spy.start()
    },
  },
  {
    ...{ fault: 'the spy and the guardians are down', alert: 'PortageStreamGap', traffic: true, consequences: ['PortageSpyDisconnected'] },
    inject: async ({ devnet: { guardian } }) => {
      await guardian.spy.stop()
      for (const server of [guardian.api, guardian.wormholescan]) server.trouble({ refuse: { status: 503 } })
      return async () => {
        for (const server of [guardian.api, guardian.wormholescan]) server.trouble()
        await guardian.spy.start()
      }
    },
  },
  { fault: 'the only process with a key is missing', alert: 'PortageLaneNotServed', traffic: false, inject: missing('lane-1') },
  {
    ...{ fault: 'the only process of a role is missing', alert: 'PortageRoleNotReady', labels: { role: 'ledger' }, traffic: false },
    // Streams record nothing while the ledger's process is missing, which may fire this alert too.
    consequences: ['PortageStreamStalled'],
    inject: missing('ledger'),
  },
  { fault: 'a receiver does not answer', alert: 'PortageNotificationsUnsent', traffic: true, inject: receiverAnswers(503) },
  {
    ...{ fault: 'a receiver answers 410', alert: 'PortageReceiverGone', traffic: true },
    consequences: ['PortageNotificationsUnsent'],
    inject: receiverAnswers(410),
  },
  {
    ...{ fault: 'a receiver is disabled', alert: 'PortageNotificationsWait', traffic: true },
    inject: async ({ client, receiver: { configured } }) => {
      await orderOfNotifier(client, configured.name, { kind: 'disable', order })
      return () => orderOfNotifier(client, configured.name, { kind: 'enable', order })
    },
  },
  {
    ...{ fault: 'Temporal does not answer', alert: 'PortageRoleNotReady', traffic: false },
    consequences: ['PortageProcessNotReady', 'PortageStreamStalled'],
    inject: async ({ devnet }) => {
      await devnet.temporal.kill('SIGSTOP')
      return () => devnet.temporal.kill('SIGCONT')
    },
  },
]
