import type { Devnet } from '../devnet/index.ts'
import type { PortageProcess } from '../devnet/portage-process.ts'
import { type Measured, type ProcessUsage, startCpuMeter } from './cpu-meter.ts'
import { headHeights, perBlockCalls, rpcCallsByMethod } from './rpc-calls.ts'
import { workerName } from './yardsticks.ts'

export interface Used {
  readonly seconds: number
  readonly blocks: number
  readonly usage: Readonly<Record<string, ProcessUsage>>
  /** JSON-RPC calls. `perBlock`: calls that a process repeats at each block. */
  readonly calls: { readonly perBlock: number; readonly others: number }
}

export async function startUseMeter(devnet: Devnet, portage: PortageProcess): Promise<() => Promise<Used>> {
  const measured: Measured = {
    temporal: [devnet.temporal.pid],
    [workerName]: [portage.pid],
    anvils: Object.values(devnet.chains).map(({ anvil }) => anvil.pid),
    driver: [process.pid],
  }
  const before = await reading(portage)
  const meter = await startCpuMeter(measured)
  return async () => {
    const usage = await meter.stop()
    const after = await reading(portage)
    return {
      usage,
      seconds: (after.at - before.at) / 1_000,
      blocks: after.heights - before.heights,
      calls: { perBlock: after.perBlock - before.perBlock, others: after.others - before.others },
    }
  }
}

async function reading(portage: PortageProcess) {
  const [calls, heights] = await Promise.all([rpcCallsByMethod(portage), headHeights(portage)])
  const perBlock = perBlockCalls(calls)
  return { at: Date.now(), heights, perBlock, others: calls.reduce((sum, [, count]) => sum + count, 0) - perBlock }
}
