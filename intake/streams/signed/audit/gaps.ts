import { createGapFiller, type GapReport, type GapsDeps } from '../gaps/gap-filler.ts'
import { createManyMissing } from './many-missing.ts'
import { createUnderWay, type UnderWayDeps } from '../gaps/under-way.ts'

/** Fills gaps: with what was started already, many numbers then by the blocks of the last days, and what is left by the network's servers. */
export function createGaps(deps: GapsDeps & UnderWayDeps, auditMs: number): ReturnType<typeof createGapFiller> {
  const filler = createGapFiller(deps, auditMs)
  const many = createManyMissing(deps)
  const underWay = createUnderWay(deps)
  return {
    hurry: () => filler.hurry(),
    async look(found, upTo): Promise<GapReport> {
      const { state, counts } = await many.look(found, () => underWay.listed(found))
      const filled = await filler.look(state, upTo, underWay)
      return { ...filled, delivered: filled.delivered + counts.delivered, ignored: filled.ignored + counts.ignored }
    },
  }
}
