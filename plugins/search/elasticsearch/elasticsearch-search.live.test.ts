import test from 'ava'
import { liveTests } from '../../../sdk/testing/live-server.ts'
import { searchDocument, streamOf } from '../../../sdk/testing/search-documents.ts'
import { searchIndexContract } from '../../../sdk/testing/search-index-contract.ts'
import { freshIndex } from './test-index.ts'

const { test: live, url } = liveTests(test, 'ELASTICSEARCH')

searchIndexContract(live, t => freshIndex(t, url('ELASTICSEARCH')))

live('at most 10,000 hits are counted', async t => {
  const index = await freshIndex(t, url('ELASTICSEARCH'))
  const documents = Array.from({ length: 10_500 }, (_, n) => searchDocument(n + 1, { name: 'plot' }))
  await index.rebuild(streamOf(documents))
  const { counts, isExact } = await index.facets({ query: { op: 'all' }, scope: { all: true }, facets: ['type'], limit: 1 })
  t.false(isExact)
  const [{ value, count } = { value: '', count: 0 }] = counts.type ?? []
  t.is(value, 'file')
  t.true(count >= 10_000 && count < 10_500, `${count} counted`)
})
