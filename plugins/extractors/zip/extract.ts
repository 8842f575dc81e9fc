import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExtractorInput, ExtractorOutput } from 'pounce/sdk'
import { openPromise, type ZipFile } from 'yauzl'
import { ArchiveSummary, type ListedEntry, printable } from './archive-summary.ts'

const maxEntries = 100_000
const maxListed = 200

/** Lists a ZIP archive from its directory. Throws when it has none or is damaged. */
export async function extract(input: ExtractorInput): Promise<ExtractorOutput> {
  if (input.sizeBytes === 0) throw new Error('The file is empty.')
  try {
    const archive = await openPromise(input.path, { decodeStrings: false, validateEntrySizes: false })
    return await list(archive, input)
  } catch (error) {
    if (input.signal.aborted) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`The file is not a ZIP archive, or its directory is damaged or truncated: ${reason}`, { cause: error })
  }
}

async function list(archive: ZipFile, input: ExtractorInput): Promise<ExtractorOutput> {
  const summary = new ArchiveSummary()
  const listed: ListedEntry[] = []
  let entries = 0
  for await (const entry of archive.eachEntry()) {
    if (entries === maxEntries) break
    if (entries % 1000 === 0) input.signal.throwIfAborted()
    const shown = summary.add(entry)
    if (entries < maxListed) listed.push(shown)
    entries++
  }
  const comment = printable(archive.comment.toString()).trim()
  const metadata = {
    entries: archive.entryCount,
    ...(archive.entryCount > entries && { isComplete: false, entriesRead: entries }),
    ...summary.metadata(input.sizeBytes),
    ...(comment && { comment }),
  }
  if (listed.length === 0) return { metadata }
  await writeFile(join(input.outputFolder, 'listing.txt'), listing(listed, archive.entryCount))
  return { metadata, previews: [{ path: 'listing.txt', contentType: 'text/plain', title: 'Entries' }] }
}

function listing(entries: readonly ListedEntry[], total: number): string {
  const lines = entries.map(({ name, sizeBytes, modified }) => {
    const date = Number.isNaN(modified.getTime()) ? ' '.repeat(16) : modified.toISOString().slice(0, 16).replace('T', ' ')
    return `${String(sizeBytes).padStart(14)}  ${date}  ${name}`
  })
  const rest = total > entries.length ? [`… and ${total - entries.length} more`] : []
  return `${[`${'bytes'.padStart(14)}  modified          name`, ...lines, ...rest].join('\n')}\n`
}
