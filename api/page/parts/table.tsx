import type { ComponentChildren } from 'preact'

interface TableProps<Row> {
  readonly caption: string
  readonly columns: readonly { readonly label: string; readonly cell: (row: Row) => ComponentChildren; readonly isFigure?: boolean }[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly empty?: ComponentChildren
}

/** Narrow screens show rows as cards. The cards' `display` removes implicit ARIA roles, so the roles are explicit. */
export function Table<Row>({ caption, columns, rows, keyOf, empty }: TableProps<Row>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>
  return (
    <table role="table">
      <caption>{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ label, isFigure }) => (
            <th role="columnheader" scope="col" class={isFigure ? 'figure' : undefined} key={label}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr role="row" key={keyOf(row)}>
            {columns.map(({ label, cell, isFigure }) => (
              <td role="cell" class={isFigure ? 'figure' : undefined} data-label={label} key={label}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
