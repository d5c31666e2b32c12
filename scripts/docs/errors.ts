import { errorCatalogue } from '../../domain/catalogue/errors.ts'
import { warningCatalogue } from '../../domain/catalogue/warnings.ts'
import { markdownTable } from './markdown.ts'

/** docs/reference/errors.md: every code, whether a retry can help, what it means and what to do; and the codes that only lines of the log have. */
export function describeErrors(): string {
  const rows = Object.entries(errorCatalogue).map(([code, { retriable, title, remedy }]) => [
    `\`${code}\``,
    title,
    retriable ? 'yes' : 'no',
    remedy,
  ])
  return [
    '# Error codes',
    '',
    'Every refusal and failure of Portage carries one of these codes, in API answers, logs, workflow results and Temporal failures (as their type).',
    '"Retried" says whether trying again can help without anybody changing anything.',
    '',
    markdownTable(['code', 'meaning', 'retried', 'what to do'], rows),
    '',
    '## Codes of the log',
    '',
    'Each line at `warn` and `error` has a code of the table above, or one of these, and says what to do.',
    '',
    markdownTable(
      ['code', 'what to do'],
      Object.entries(warningCatalogue).map(([code, remedy]) => [`\`${code}\``, remedy]),
    ),
    '',
  ].join('\n')
}
