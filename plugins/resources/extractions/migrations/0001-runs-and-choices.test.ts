import test from 'ava'
import { DocumentStore } from 'pounce/sdk'
import type { JobStatus } from 'pounce/sdk/kit'
import { bootForTest } from 'pounce/sdk/testing'
import { extractions, extractors } from '../collections.ts'
import { EnabledExtractors } from '../enabled-extractors.ts'
import { StoredExtractions } from '../stored-extractions.ts'
import { up } from './0001-runs-and-choices.ts'

const at = '2026-01-01T00:00:00.000Z'

test('the migration keeps enabled extractors and the states of runs, and is idempotent', async t => {
  const server = await bootForTest({ t })
  const documents = server.get(DocumentStore)
  const put = (into: typeof extractors | typeof extractions, document: object) => documents.commit({ insert: document, into } as never)
  const info = { name: 'old.one', version: '1' }
  await put(extractors, { id: 'a'.repeat(24), identity: 'old.one', name: 'old.one', info, updated: at, owner: 'x', isEnabled: true })
  const run = {
    target: { kind: 'file', id: 'f'.repeat(24) },
    extractor: 'old.one',
    user: null,
    lines: [{ status: 'SUBMITTED', at }],
    start: at,
    end: null,
    trigger: 'upload',
  }
  const statuses = { b: ['SUBMITTED', false], c: ['DONE', true], d: ['StatusMessage.error: x', true] } as const
  for (const [id, [status, isFinished]] of Object.entries(statuses))
    await put(extractions, { ...run, id: id.repeat(24), status, isFinished })
  for (let twice = 0; twice < 2; twice++) await up(documents)
  t.true((await server.get(EnabledExtractors).enabled()).includes('old.one'))
  t.like(await documents.get(extractors, 'a'.repeat(24)), { key: null, permissions: [], isBuiltIn: false })
  const states = await documents.getMany(
    extractions,
    ['b', 'c', 'd'].map(id => id.repeat(24)),
  )
  t.deepEqual(
    [...states.values()].map(({ state, queue, chain }) => [state, queue, chain]),
    [
      ['open', 'old.one', []],
      ['done', 'old.one', []],
      ['failed', 'old.one', []],
    ],
  )
  const statusUpdate: JobStatus = { jobId: 'b'.repeat(24), targetId: run.target.id, extractor: 'old.one', status: 'done', at: new Date(at) }
  t.truthy(await server.get(StoredExtractions).addStatus(statusUpdate))
  t.is((await server.get(StoredExtractions).get('b'.repeat(24)))?.state, 'done')
})
