import test from 'ava'
import { CommitConflict, Invalid, StagedBlob, Unavailable } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'

const bytes = { key: 'a/b', sizeBytes: 3, sha256: 'f'.repeat(64) }

const setUp = (fault?: Error) => {
  const removed: string[] = []
  const remove = async (key: string) => {
    removed.push(key)
    if (fault) throw fault
  }
  return { removed, staged: new StagedBlob(bytes, { remove }, silent) }
}

test('bytes that were not committed are removed, once', async t => {
  const { removed, staged } = setUp()
  await staged[Symbol.asyncDispose]()
  await staged[Symbol.asyncDispose]()
  t.deepEqual(removed, ['a/b'])
})

test('committed bytes stay', async t => {
  const { removed, staged } = setUp()
  const record = { blob: 'a/b', name: 'x' }
  t.is(await staged.commit(async () => record), record)
  await staged[Symbol.asyncDispose]()
  t.deepEqual(removed, [])
})

test('bytes are not removed while their record is committed', async t => {
  const { removed, staged } = setUp()
  const answer = Promise.withResolvers<{ blob: string }>()
  const committing = staged.commit(() => answer.promise)
  await staged[Symbol.asyncDispose]()
  answer.resolve({ blob: 'a/b' })
  await committing
  t.deepEqual(removed, [])
})

test('bytes whose commit was refused are removed', async t => {
  for (const refused of [new Invalid('no'), new CommitConflict('exists', 'there is one')]) {
    const { removed, staged } = setUp()
    await t.throwsAsync(
      staged.commit(() => Promise.reject(refused)),
      { is: refused },
    )
    await staged[Symbol.asyncDispose]()
    t.deepEqual(removed, ['a/b'])
  }
})

test('bytes stay when only the acknowledgement of their commit may have been lost', async t => {
  for (const lost of [new Unavailable('gone'), new Error('a connection was reset')]) {
    const { removed, staged } = setUp()
    await t.throwsAsync(
      staged.commit(() => Promise.reject(lost)),
      { is: lost },
    )
    await staged[Symbol.asyncDispose]()
    t.deepEqual(removed, [])
  }
})

test('bytes are removed when an earlier record has different ones', async t => {
  const { removed, staged } = setUp()
  t.is((await staged.commit(async () => ({ blob: 'c/d' }))).blob, 'c/d')
  await staged[Symbol.asyncDispose]()
  t.deepEqual(removed, ['a/b'])
})

test('a failed removal is left to the sweep', async t => {
  const { removed, staged } = setUp(new Unavailable('gone'))
  await t.notThrowsAsync(async () => staged[Symbol.asyncDispose]())
  t.deepEqual(removed, ['a/b'])
})
