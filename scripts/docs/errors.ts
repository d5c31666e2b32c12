import { catalogue, errorCatalogue, isCauseCode, isErrorCode } from '../../domain/catalogue/catalogue.ts'
import { contentsPlace } from './contents.ts'
import { markdownTable } from './markdown.ts'

/** docs/reference/errors.md: every code, with its meaning, its remedy, and whether a retry can help. */
export function describeErrors(): string {
  const errors = Object.entries(errorCatalogue).map(([code, { retriable, title, remedy }]) => [
    `\`${code}\``,
    title,
    retriable ? 'yes' : 'no',
    remedyOf(code, remedy),
  ])
  const others = Object.entries(catalogue).flatMap(([code, { title, remedy }]) =>
    isErrorCode(code) ? [] : [[`\`${code}\``, title, remedyOf(code, remedy)]],
  )
  return [
    '# Error codes',
    'Every refusal and failure of Portage has a code of this page, in API answers, logs, workflow results and Temporal failures (as their type). The column "retried" says whether a retry alone can help. Codes of `portage stuck` have a [runbook](../runbooks/README.md).',
    contentsPlace,
    '## Codes of errors',
    markdownTable(['code', 'meaning', 'retried', 'what to do'], errors),
    '## Codes of the log and of causes',
    'Each log line at `warn` and `error` has a code of one of the two tables, and says what to do.',
    markdownTable(['code', 'meaning', 'what to do'], others),
    '## Next steps\n\n- [Runbooks](../runbooks/README.md): more about codes of `portage stuck` and of alerts.\n- [The HTTP API](../start/http-api.md#refusals): the form of a refusal.',
  ].join('\n\n')
}

function remedyOf(code: string, remedy: string): string {
  return isCauseCode(code) ? `${remedy} [Runbook](../runbooks/${code}.md)` : remedy
}
