import { zeroPadValue } from 'ethers'
import { batchIntent, completionIntent } from '../../bridges/native-bridge/calls.ts'
import { tokenAbi } from '../../bridges/native-bridge/contracts.ts'
import { idOf, type NativeTransfer, toTransfer } from '../../bridges/native-bridge/message.ts'
import { type Intent, type Attempt, type Entry, type LaneState, laneId } from '../../domain/lane/lane.ts'
import type { Ask, LaneAnswer } from '../../domain/lane/messages.ts'
import { freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { callHash } from '../../lanes/deps.ts'
import { applyUpdate, laneStatusQuery } from '../../temporal/contracts/lane.ts'
import { chainQueue, laneQueue, laneWorkflowId, ledgerQueue } from '../../temporal/contracts/names.ts'
import type { OperatorTransactionStatus } from '../../temporal/contracts/operator-transaction.ts'
import { signingLimitsSchema } from '../../config/schema/lane-schema.ts'
import type { Stage } from './e2e.ts'
import { type ActivityEnd, runActivity } from './hostile-temporal.ts'

/** A completion of a transfer that the source does not have. */
interface Forged {
  readonly transfer: NativeTransfer
  readonly intent: Intent
}

/** An attacker with access to Temporal, who wants the pool of bsc's native bridge or the coins of bsc's lane. */
export async function hostileClient({ devnet, client }: Stage) {
  const { ends } = devnet.native!
  const { bsc, ethereum } = ends
  const key = devnet.lanes.find(({ chain }) => chain === 'bsc')!.address.toLowerCase()
  const lane = laneId('evm', bsc.anvil.chainId, key)
  const ledger = client.workflow.getHandle(laneWorkflowId(lane))
  const thief = freshAddress()
  const route = {
    sourceChain: 'ethereum',
    sourceNetworkId: String(ethereum.anvil.chainId),
    sourceBridge: ethereum.bridge.toLowerCase(),
    targetChain: 'bsc',
    targetBridge: bsc.bridge.toLowerCase(),
  }
  const from = Number(await bsc.anvil.rpc<string>('eth_blockNumber'))
  let forgeries = 0

  return {
    ledger,
    /** A completion that pays the thief, with the number of a genuine transfer. */
    completion({ nonce }: { nonce: bigint }): Forged {
      const claim = { initiator: `0x${'cd'.repeat(20)}`, recipient: zeroPadValue(thief, 32).toLowerCase(), amount: 1_000n + nonce, nonce }
      const transfer = { ...claim, id: idOf(claim) }
      return { transfer, intent: completionIntent(bsc.bridge, transfer) }
    },
    batchOf: (...forged: Forged[]) =>
      batchIntent(
        bsc.bridge,
        forged.map(({ transfer }) => transfer),
      ),
    broadcastOf({ transfer, intent }: Forged) {
      const { kind: _, ...first } = attempt()
      return { ...first, transfer: toTransfer(route, transfer), callHash: callHash(intent), mode: 'new', priority: 1 }
    },
    attempt,
    operatorTransaction: (intent: Intent) =>
      client.workflow.execute<(input: object) => Promise<OperatorTransactionStatus>>('operatorTransaction', {
        workflowId: `operator-transaction:${lane}:forged-${++forgeries}`,
        taskQueue: ledgerQueue,
        args: [{ lane, intent, by: 'root', reason: 'urgent' }],
      }),
    step: (name: string, input: object): Promise<ActivityEnd> =>
      runActivity(client, laneQueue(lane), name, { lane, intentId: `forged-${++forgeries}/1`, ...input }),
    /** Runs a step on the chain's queue, as a local broadcast does. */
    localStep: (name: string, input: object): Promise<ActivityEnd> =>
      runActivity(client, chainQueue('bsc'), name, { lane, intentId: `forged-${++forgeries}/1`, ...input }),
    async order(...asks: Ask[]): Promise<readonly LaneAnswer[]> {
      const requests = asks.map((ask) => ({ ...ask, id: `forged-${++forgeries}` }))
      return (await ledger.executeUpdate(applyUpdate, { args: [{ requests }] })).answers
    },
    /**
     * Replaces the lane's workflow with a run that has granted one more nonce, with the attempt `recorded`. Returns the
     * nonce.
     */
    async forgeLane(recorded: Attempt): Promise<number> {
      const state = await ledger.query(laneStatusQuery)
      const { config, next } = state
      const entry: Entry = {
        nonce: next,
        grantedTo: '',
        maybeSent: true,
        sinceBlock: 0,
        claimedBlock: 0,
        fill: 'operator',
        attempts: [recorded],
      }
      const forged: LaneState = { ...state, next: next + 1, entries: { ...state.entries, [next]: entry } }
      await client.workflow.start('lane', {
        workflowId: laneWorkflowId(lane),
        // Replace the run in one request, because a process of the lane could start an empty ledger between two
        // requests.
        workflowIdConflictPolicy: 'TERMINATE_EXISTING',
        taskQueue: ledgerQueue,
        args: [{ config, state: forged }],
      })
      return next
    },
    /** Transactions of the lane that may cost more than the config allows. */
    async spendAtMost(): Promise<readonly string[]> {
      const { maxCostPerTransactionWei, maxTipPerGasWei } = signingLimitsSchema.parse({})
      const to = Number(await bsc.anvil.rpc<string>('eth_blockNumber'))
      const dear: string[] = []
      for (let height = from; height <= to; height++) {
        const block = await bsc.anvil.rpc<{ transactions: Mined[] }>('eth_getBlockByNumber', [`0x${height.toString(16)}`, true])
        for (const { hash, from: sender, gas, maxFeePerGas, maxPriorityFeePerGas } of block.transactions) {
          const cost = BigInt(gas) * BigInt(maxFeePerGas ?? 0)
          const isDear = cost > BigInt(maxCostPerTransactionWei) || BigInt(maxPriorityFeePerGas ?? 0) > BigInt(maxTipPerGasWei)
          if (sender.toLowerCase() === key && isDear) dear.push(hash)
        }
      }
      return dear
    },
    async stolen(): Promise<bigint> {
      const data = tokenAbi.encodeFunctionData('balanceOf', [thief])
      return BigInt(await bsc.anvil.rpc<string>('eth_call', [{ to: bsc.token, data }, 'latest']))
    },
  }
}

function attempt(changes: Partial<Attempt> = {}): Attempt {
  return { kind: 'call', gasLimit: '200000', maxFee: '3000000000', tip: '1000000000', ...changes }
}

interface Mined {
  readonly hash: string
  readonly from: string
  readonly gas: string
  readonly maxFeePerGas?: string
  readonly maxPriorityFeePerGas?: string
}
