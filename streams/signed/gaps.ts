import { createGapFiller, type GapReport, type GapsDeps } from './gap-filler.ts'
import { createManyMissing } from './many-missing.ts'

/** Fills gaps: many numbers by the blocks of the last days first, and what is left by the network's servers. */
export function createGaps(deps: GapsDeps, auditMs: number): ReturnType<typeof createGapFiller> {
  const filler = createGapFiller(deps, auditMs)
  const many = createManyMissing(deps)
  return {
    hurry: () => filler.hurry(),
    async look(found, upTo): Promise<GapReport> {
      const { state, counts } = await many.look(found)
      const filled = await filler.look(state, upTo)
      return { ...filled, delivered: filled.delivered + counts.delivered, ignored: filled.ignored + counts.ignored }
    },
  }
}
