import test from 'ava'
import type { AnyEvent, Comments, Contributions, MetadataDocuments, Searchable, SearchIndex, Sections } from 'pounce/sdk'
import type { SearchDocument } from 'pounce/sdk/search'
import { IndexChanges } from './handlers.ts'
import { Indexer } from './indexer.ts'

const nothing = async () => ({ items: [] })
const id = '6b01d5edf31f5634a0000005'

/**
 * A store and an index with one file; `name` is its name in the store, `found` the name last indexed, `described` how often it was
 * rendered.
 */
const world = ({ isShared }: { readonly isShared: boolean }) => {
  const state = { name: 'old', found: '', described: 0 }
  const describe = async (): Promise<ReadonlyMap<string, SearchDocument>> => {
    const { name } = state
    state.described += 1
    // A slow read: its result was current when it began.
    await new Promise(setImmediate)
    return new Map([[id, { id, kind: 'file', revision: 1, name, tags: [], metadata: [] } as unknown as SearchDocument]])
  }
  const kernel = (apply: (put: () => void) => Promise<void>): Indexer => {
    const index = {
      isShared,
      apply: (changes: readonly { readonly put?: SearchDocument }[]) =>
        apply(() => {
          state.found = changes[0]?.put?.name ?? ''
        }),
    } as unknown as SearchIndex
    const searchables = { all: () => [{ kind: 'file', describe }] } as unknown as Contributions<Searchable>
    const [metadata, comments, sections] = [{ of: nothing } as unknown as MetadataDocuments, { of: nothing } as unknown as Comments, {}]
    return new Indexer(index, searchables, metadata, comments, { ...sections, of: nothing } as unknown as Sections)
  }
  return { state, kernel }
}

test('concurrent changes of one file are rendered once if the index is not shared', async t => {
  const { state, kernel } = world({ isShared: false })
  const subject = { kind: 'file', id }
  const events = [
    { type: 'file.created', subject, data: {} },
    { type: 'tags.added', subject, data: {} },
    { type: 'metadata.added', subject: { kind: 'metadata', id: 'm' }, data: { target: subject } },
  ] as unknown as readonly AnyEvent[]
  await new IndexChanges(kernel(async put => put())).handleAll(events)
  t.is(state.described, 1)
  t.is(state.found, 'old')
})

test('in a shared index, a file is rendered before and after the write', async t => {
  const { state, kernel } = world({ isShared: true })
  await kernel(async put => put()).refresh('file', [id])
  t.is(state.described, 2)
})

test('an older read does not overwrite a newer one', async t => {
  const { state, kernel } = world({ isShared: false })
  let slow = true
  const indexing = kernel(async put => {
    if (slow) {
      slow = false
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
    }
    put()
  })
  const first = indexing.refresh('file', [id])
  await new Promise(setImmediate)
  state.name = 'new'
  await Promise.all([first, indexing.refresh('file', [id])])
  t.is(state.found, 'new')
})

test('a slow kernel writes the current state even after another kernel has written it', async t => {
  const { state, kernel } = world({ isShared: true })
  const other = kernel(async put => put())
  let puts = 0
  const slow = kernel(async put => {
    puts += 1
    if (puts === 1) {
      state.name = 'new'
      await other.refresh('file', [id])
      t.is(state.found, 'new')
    }
    put()
  })
  await slow.refresh('file', [id])
  t.is(state.found, 'new')
  t.is(puts, 2)
})

test('failed work does not block subsequent work', async t => {
  const { state, kernel } = world({ isShared: false })
  let isUnavailable = true
  const indexing = kernel(async put => {
    if (isUnavailable) throw new Error('away')
    put()
  })
  await t.throwsAsync(indexing.refresh('file', [id]), { message: 'away' })
  isUnavailable = false
  await indexing.refresh('file', [id])
  t.is(state.found, 'old')
})
