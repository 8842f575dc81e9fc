import { readFile, writeFile } from 'node:fs/promises'
import type { Counts } from './matrix.ts'

/** What the last full run had, by part; `docs/security.md` quotes the sum. */
const file = new URL('./counts.json', import.meta.url)

export interface PartCounts {
  readonly routes: number
  readonly cells: number
  readonly refusals: number
  readonly deeds: number
  readonly disagreements: number
}

/** Keeps the counts of a part of a full run. */
export const noteCounts = async (part: string, { cells, refusals, deeds, disagreements, asked }: Counts): Promise<void> => {
  const known = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Readonly<Record<string, PartCounts>>
  const parts = { ...known, [part]: { routes: asked.size, cells, refusals, deeds, disagreements: disagreements.length } }
  const sorted = Object.fromEntries(Object.entries(parts).sort(([one], [other]) => (one < other ? -1 : 1)))
  await writeFile(file, `${JSON.stringify(sorted, null, 2)}\n`)
}
