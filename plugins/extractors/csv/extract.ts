import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExtractorInput, ExtractorOutput } from 'pounce/sdk'
import { readDialect } from './dialect.ts'
import { type ParsedTable, readTable } from './table.ts'

const maxColumns = 50

const maxShownLength = 200

/** The first rows of a table as a separate HTML page, with everything escaped. */
function tablePage(table: ParsedTable): string {
  const names = table.columns.slice(0, maxColumns).map(column => `<th>${escaped(column.name)}</th>`)
  const rows = table.firstRows.map(row => {
    const cells = row.slice(0, maxColumns).map(cell => `<td>${escaped(cell)}</td>`)
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
  const shown = text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text
  return shown.replace(/[&<>"']/g, character => entities[character] ?? '').toWellFormed()
}

/** Describes a table of any length and shows its first rows. Throws when there is no table in the file. */
export async function extract(input: ExtractorInput): Promise<ExtractorOutput> {
  if (input.sizeBytes === 0) throw new Error('The file is empty.')
  const dialect = await readDialect(input.path, input.contentType)
  const table = await readTable(input, dialect)
  if (table.columnCount === 0) throw new Error(`No table found in the file${table.problems.length > 0 ? `: ${table.problems[0]}` : '.'}`)
  await writeFile(join(input.outputFolder, 'table.html'), tablePage(table))
  return {
    metadata: {
      encoding: dialect.encoding === 'windows-1252' ? dialect.encoding : dialect.encoding.toUpperCase(),
      delimiter: dialect.delimiter === '\t' ? 'tab' : dialect.delimiter,
      ...describe(table),
    },
    previews: [{ path: 'table.html', contentType: 'text/html', title: 'First rows' }],
  }
}

const describe = (table: ParsedTable): Record<string, unknown> => ({
  hasHeader: table.hasHeader,
  rows: table.rows,
  columnCount: table.columnCount,
  columns: table.columns.map(column => column.summary()),
  ...(table.raggedRows > 0 && { raggedRows: table.raggedRows }),
  ...(table.brokenRows > 0 && { brokenRows: table.brokenRows, problems: table.problems }),
  ...(!table.isComplete && { isComplete: false }),
})
