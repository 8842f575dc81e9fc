import test from 'ava'
import { cast, policyOn } from './testing-fixtures/cast.ts'

test('a caller without any right to view gets nothing, not everything', t => {
  const policy = policyOn({ all: () => [] }, { isPrivate: true })
  t.is(policy.visibleTo(cast['anonymous']!, 'EditDataset'), 'nothing')
  t.is(policy.visibleTo(cast['inactiveAuthor']!, 'ViewDataset'), 'nothing')
  t.is(policy.visibleTo(cast['authorsExtractor']!, 'DeleteDataset'), 'nothing')
  t.deepEqual(policy.searchScope(cast['inactiveAuthor']!), { all: false, spaces: [], includePublic: false })
})
