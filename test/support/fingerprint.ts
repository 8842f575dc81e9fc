import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BlobStore, GeoStore } from 'pounce/sdk'
import type { TestServer } from 'pounce/sdk/testing'

/** State of periodic tasks, which run at arbitrary times: their leases and progress. */
const bookkeeping: ReadonlySet<unknown> = new Set(['kernel.leases', 'files.scrub', 'audit.chains', 'live.log'])

/** Whether a document is an audit log entry of a periodic task. */
const isAnchor = (document: string): boolean => document.includes('"type":"audit.anchor"')

/** The time of last use of a key is recorded once a minute, for any use. */
const use = /"revision":\d+,|,"lastUsed":(?:"[^"]*"|null)/g
const keys = 'users.keys'

const documentsOf = (file: DatabaseSync, collection: number): readonly string[] =>
  file
    .prepare(`SELECT doc FROM c${collection} ORDER BY id`)
    .all()
    .map(({ doc }) => String(doc))
    .filter(document => !isAnchor(document))

/** Everything a server has stored: documents by collection, keys of blobs, partially written files, datapoints. */
export const fingerprint = async (server: TestServer): Promise<Readonly<Record<string, readonly string[]>>> => {
  await server.drained()
  const file = new DatabaseSync(join(server.folder, 'documents', 'pounce.db'), { readOnly: true })
  try {
    const documents = file
      .prepare('SELECT id, name FROM collections')
      .all()
      .filter(({ name }) => !bookkeeping.has(name))
      .map(({ id, name }) => {
        const found = documentsOf(file, Number(id))
        return [String(name), name === keys ? found.map(key => key.replaceAll(use, '')) : found] as const
      })
    const blobs = (await Array.fromAsync(server.get(BlobStore).list())).map(({ key }) => key).sort()
    const halves = await readdir(join(server.folder, 'blobs', 'tmp'))
    const readings = (await Array.fromAsync(server.get(GeoStore).read({ filter: {} }))).flat().map(point => JSON.stringify(point))
    return { ...Object.fromEntries(documents), blobs, halves, readings: readings.sort() }
  } finally {
    file.close()
  }
}

/** Whether a document counts the invitations of an hour that has ended: these are removed periodically. */
const isEndedCount = (collection: string, document: string): boolean =>
  collection === 'spaces.quotas' && JSON.parse(document).until <= new Date().toISOString()

/** The difference of two fingerprints: names of collections, with their new, changed or missing documents. */
export const changes = (
  before: Readonly<Record<string, readonly string[]>>,
  after: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, readonly string[]>> => {
  const changed = Object.keys({ ...before, ...after }).map(name => {
    const old = (before[name] ?? []).filter(document => !isEndedCount(name, document))
    const now = (after[name] ?? []).filter(document => !isEndedCount(name, document))
    return [
      name,
      [...now.filter(each => !old.includes(each)), ...old.filter(each => !now.includes(each)).map(each => `gone: ${each}`)],
    ] as const
  })
  return Object.fromEntries(changed.filter(([, documents]) => documents.length > 0))
}
