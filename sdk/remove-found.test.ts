import test from 'ava'
import { CommitConflict, type DocumentStore, eq, event, type NewEvent, Unavailable } from 'pounce/sdk'
import { removeFound } from 'pounce/sdk/kit'
import type { Committed } from 'pounce/sdk/store-kit'
import { type Note, notes } from './testing/notes.ts'

type Item = { readonly change: { readonly tombstone: string }; readonly events?: readonly NewEvent[] }

/** A store with the given number of notes; `fails` returns the error of a commit, if any. */
const storeOf = (count: number, fails: (id: string) => Error | undefined = () => undefined) => {
  const left = new Map(Array.from({ length: count }, (_, n) => [`n${n}`, { id: `n${n}`, revision: 1, name: 'x' }]))
  const committed: NewEvent[] = []
  let requested = 0
  const commitEach = async (items: readonly Item[]): Promise<readonly Committed<Note>[]> =>
    items.map(({ change: { tombstone }, events = [] }) => {
      const error = fails(tombstone)
      // A concurrent removal causes a conflict.
      if (error === undefined || error instanceof CommitConflict) left.delete(tombstone)
      if (error) return { ok: false, error }
      committed.push(...events)
      return { ok: true, document: { id: tombstone, revision: 1 } }
    })
  const find = async (_from: unknown, { limit }: { readonly limit: number }) => {
    requested += 1
    return { items: [...left.values()].slice(0, limit) }
  }
  return { documents: { find, commitEach } as unknown as DocumentStore, left, committed, requested: () => requested }
}

const query = { using: 'byName', where: eq('name', 'x') }

test('all found documents are removed, each with its events', async t => {
  const { documents, left, committed } = storeOf(450)
  await removeFound(documents, notes, {
    ...query,
    events: ({ id }) => [event('comment.removed', { kind: 'comment', id }, { target: { kind: 'file', id } })],
  })
  t.is(left.size, 0)
  t.is(committed.length, 450)
})

test('a concurrently removed document is not an error', async t => {
  const { documents, left } = storeOf(5, id => (id === 'n3' ? new CommitConflict('absent', 'n3 is gone') : undefined))
  await removeFound(documents, notes, query)
  t.is(left.size, 0)
})

test('a store that rejects changes ends the removal instead of being retried forever', async t => {
  const { documents, requested } = storeOf(5, () => new Unavailable('no space'))
  await t.throwsAsync(removeFound(documents, notes, query), { instanceOf: Unavailable })
  t.is(requested(), 1)
})

test('an abort stops the removal between batches', async t => {
  const { documents, left } = storeOf(5)
  await removeFound(documents, notes, { ...query, signal: AbortSignal.abort() })
  t.is(left.size, 5)
})
