import { laneCases } from './lanes.ts'
import { nativeCases } from './native.ts'
import { nodeCases, slowNodeCases } from './nodes.ts'
import { orderCases } from './orders.ts'
import { pluginCases } from './plugins.ts'
import { productCases } from './products.ts'
import { processCases } from './processes.ts'
import type { StuckCase } from './scene.ts'
import { transferCases } from './transfers.ts'
import { lateWormholeCases, wormholeCases } from './wormhole.ts'

/** The cases that set the chains' clocks forward are the last ones. */
export const stuckCases: readonly StuckCase[] = [
  ...laneCases,
  ...orderCases,
  ...nodeCases,
  ...slowNodeCases,
  ...nativeCases,
  ...transferCases,
  ...processCases,
  ...pluginCases,
  ...productCases,
  ...wormholeCases,
  ...lateWormholeCases,
]
