import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExtractorInput, ExtractorOutput } from 'pounce/sdk'
import { readDialect } from './dialect.ts'
import { readTable, type Table } from './table.ts'
import { tablePage } from './table-page.ts'

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

const describe = (table: Table): Record<string, unknown> => ({
  hasHeader: table.hasHeader,
  rows: table.rows,
  columnCount: table.columnCount,
  columns: table.columns.map(column => column.facts()),
  ...(table.raggedRows > 0 && { raggedRows: table.raggedRows }),
  ...(table.brokenRows > 0 && { brokenRows: table.brokenRows, problems: table.problems }),
  ...(!table.isComplete && { isComplete: false }),
})
