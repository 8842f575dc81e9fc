import type { Table } from './table.ts'

const mostColumns = 50
const longestCell = 200

/** The first rows of a table as an HTML page of its own, everything in it escaped. */
export function tablePage(table: Table): string {
  const names = table.columns.slice(0, mostColumns).map(column => `<th>${escaped(column.name)}</th>`)
  const rows = table.firstRows.map(row => {
    const cells = row.slice(0, mostColumns).map(cell => `<td>${escaped(cell)}</td>`)
    return `<tr>${cells.join('')}</tr>`
  })
  const hidden = table.columnCount - names.length
  const note = hidden > 0 ? `<p>… and ${hidden} more columns</p>\n` : ''
  return `<!doctype html>
<html><head><meta charset="utf-8"><title>First rows</title></head><body>
<table>
<thead><tr>${names.join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
${note}</body></html>
`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string): string => {
  const shown = text.length > longestCell ? `${text.slice(0, longestCell)}…` : text
  return shown.replace(/[&<>"']/g, character => entities[character] ?? '').toWellFormed()
}
