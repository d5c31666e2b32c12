import { causeCatalogue } from '../../domain/catalogue/cause-catalogue.ts'
import type { CauseRow } from '../../domain/catalogue/cause-row.ts'

/** The runbook of each cause, the most harmful first. */
export function describeCauses(): string {
  return Object.entries<CauseRow>(causeCatalogue)
    .map(([code, { means, does, advice, next }]) => {
      const you = advice === undefined ? [] : [`**You:** ${advice}`]
      return [`### ${code}`, means, `**Portage:** ${does}`, ...you, ['```sh', ...next, '```'].join('\n')].join('\n\n')
    })
    .join('\n\n')
}
