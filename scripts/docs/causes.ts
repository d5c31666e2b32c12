import { causeCatalogue } from '../../domain/cause-catalogue.ts'
import type { CauseRow } from '../../domain/cause-row.ts'

/** The runbook of each cause, the most harmful first. */
export function describeCauses(): string {
  return Object.entries<CauseRow>(causeCatalogue)
    .map(([code, { means, does, advice, next }]) => {
      const you = advice === undefined ? [] : [`**You:** ${advice}`]
      return [`### ${code}`, means, `**Portage:** ${does}`, ...you, ['```sh', ...next, '```'].join('\n')].join('\n\n')
    })
    .join('\n\n')
}
