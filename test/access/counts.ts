import { readFile, writeFile } from 'node:fs/promises'
import type { Counts } from './matrix.ts'

/** The counts of the last full run, by part. */
const file = new URL('./counts.json', import.meta.url)

/** The page that contains the counts between two markers. */
const page = new URL('../../docs/security.md', import.meta.url)
const marks = /(<!-- counts -->)[\s\S]*(<!-- \/counts -->)/

const columns = ['routes', 'cells', 'refusals', 'actions', 'disagreements'] as const
type PartCounts = Readonly<Record<(typeof columns)[number], number>>
type Parts = Readonly<Record<string, PartCounts>>

/** One line per part and one for the total. */
export const countsTable = (parts: Parts): string => {
  const sum = (column: (typeof columns)[number]): number => Object.values(parts).reduce((all, part) => all + part[column], 0)
  const line = (name: string, value: (column: (typeof columns)[number]) => number | string): string =>
    `| ${[name, ...columns.map(column => value(column).toLocaleString('en'))].join(' | ')} |`
  const head = [line('Server, part', column => column), `|---|${columns.map(() => '---:').join('|')}|`]
  return [...head, ...Object.entries(parts).map(([name, part]) => line(name, column => part[column])), line('all', sum)].join('\n')
}

/** Records the counts of a part of a full run, and updates the page. */
export const noteCounts = async (part: string, { cells, refusals, actions, disagreements, requested }: Counts): Promise<void> => {
  const known = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Parts
  const parts = { ...known, [part]: { routes: requested.size, cells, refusals, actions, disagreements: disagreements.length } }
  const sorted = Object.fromEntries(Object.entries(parts).sort(([one], [other]) => (one < other ? -1 : 1)))
  await writeFile(file, `${JSON.stringify(sorted, null, 2)}\n`)
  const text = await readFile(page, 'utf8')
  await writeFile(
    page,
    text.replace(marks, (_, open: string, close: string) => `${open}\n${countsTable(sorted)}\n${close}`),
  )
}
