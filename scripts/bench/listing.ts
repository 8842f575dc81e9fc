import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DocumentStore, Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { datasets } from '../../plugins/resources/datasets/collection.ts'
import { load, request } from './load.ts'
import { newKey, startPounce } from './servers.ts'
import { type Row, round } from './table.ts'

const spaces = 1000
const hex = (n: number): string => n.toString(16).padStart(24, '0')
const editor = '0000000000000000000000a2'

const record = (n: number) => ({
  id: hex(0x100000 + n),
  name: `set ${n}`,
  description: 'z'.repeat(150),
  author: hex(1),
  created: new Date(1_600_000_000_000 + n * 1000).toISOString(),
  modified: new Date(1_600_000_000_000 + n * 1000).toISOString(),
  access: 'DEFAULT' as const,
  isPublic: false,
  spaces: n % 2 === 0 ? [hex(0x10 + ((n * 7919) % spaces))] : [hex(0x10 + ((n * 7919) % spaces)), hex(0x10 + ((n * 104_729) % spaces))],
  collections: [],
  thumbnail: null,
  creators: [],
  license: { type: 'license1', url: '', text: 'All Rights Reserved', rightsHolder: '', allowDownload: false },
  tags: [],
  statistics: { views: 0, downloads: 0, lastViewed: null, lastDownloaded: null },
  state: 'live' as const,
  trashedAt: null,
})

const isPrivate = { POUNCE_ACCESS__PRIVATE: 'true' }

/** A data folder with so many datasets in a thousand spaces, and an admin who is a member of `member` of them. */
const fill = async (folder: string, count: number, member: number, email: string): Promise<void> => {
  const server = await bootForTest({ folder, config: { access: { private: true } } })
  const documents = server.get(DocumentStore)
  for (let n = 0; n < count; n += 500) {
    const items = Array.from({ length: Math.min(500, count - n) }, (_, at) => ({ change: { insert: record(n + at), into: datasets } }))
    for (const each of await documents.commitEach(items)) if (!each.ok) throw each.error
  }
  const users = server.get(Users)
  const user = await users.create({ email, firstName: 'B', lastName: 'M', status: 'Active', password: 'bench-bench-bench' })
  const memberships = Array.from({ length: member }, (_, at) => ({ space: hex(0x10 + at * 31), role: editor }))
  await users.change(user.id, { set: { memberships } }, [])
  await server.stop()
}

/** Median milliseconds of `GET /api/datasets?limit=50` by a member of 30 spaces of a private server that holds so many datasets. */
const pageMs = async (count: number): Promise<{ readonly p50: number; readonly p99: number }> => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-bench-'))
  const email = 'member@example.org'
  try {
    await fill(folder, count, 30, email)
    const server = await startPounce({ folder, settings: isPrivate })
    const key = await newKey(server, { email, password: 'bench-bench-bench' })
    const next = () => request('GET', '/api/datasets?limit=50', { 'x-api-key': key })
    const measured = await load({ port: server.port, connections: 1, seconds: 4, newState: () => undefined, next, wantsBody: false })
    await server.stop()
    return measured
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Workload 5: listing under permissions at two sizes. */
export const listing = async (sizes: readonly [number, number]): Promise<readonly Row[]> => {
  const [few, many] = [await pageMs(sizes[0]), await pageMs(sizes[1])]
  const workload = '5 · 50 newest datasets, member of 30 spaces'
  const figure = ({ p50, p99 }: { p50: number; p99: number }): string => `${round(p50)} ms, p99 ${round(p99)} ms`
  return [
    { workload, subject: `${sizes[0].toLocaleString('en')} datasets`, figure: figure(few) },
    {
      workload,
      subject: `${sizes[1].toLocaleString('en')} datasets`,
      figure: figure(many),
      ratio: many.p50 / few.p50,
      goal: 1.5,
      isCeiling: true,
    },
  ]
}
