import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  readonly label: string
  readonly cell: (row: Row) => ComponentChildren
  readonly isFigure?: boolean
}

interface TableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
}

/** A row is a card on a narrow screen; ARIA roles stay when its display changes. */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
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
