import assert from 'node:assert/strict'
import fc from 'fast-check'
import { applyUpdate } from '../documents/apply-update.ts'
import { keysOf } from '../documents/index-keys.ts'
import { matcher } from '../documents/matcher.ts'
import { valueAt } from '../documents/paths.ts'
import { compareScalars, type Scalar } from '../documents/scalars.ts'
import { event, type NewEvent } from '../events.ts'
import { CommitConflict, Taken } from '../ports/conflicts.ts'
import {
  type After,
  type Change,
  collection,
  type DocumentStore,
  type Find,
  type Index,
  type Stored,
  type Where,
} from '../ports/document-store.ts'
import { Invalid } from '../problem.ts'
import type { TestContext } from './any-runner.ts'
import { FixedClock } from './fixed-clock.ts'
import { countingIds, type MakeDocumentStore } from './store-tools.ts'

const things = collection<object>()('things', {
  byA: { on: ['a'] },
  byAB: { on: ['a', 'b'] },
  byTag: { on: ['tags', 'b'], array: 'tags' },
  byPart: { on: ['a', 'parts.x', 'b'], array: 'parts.x' },
  byKey: { on: ['key'], unique: true },
  byDeep: { on: ['deep.n', 'a'] },
  byObject: { on: ['deep'] },
  byPiece: { on: ['a~', 'b'], array: 'a~' },
})
const indexNames = Object.keys(things.indexes)

const ids = ['1', '2', '3', 'a', 'A', 'ä', 'b', 'B/1', 'z', '😀']
const texts = ['', 'a', 'A', 'ab', 'abc', 'xABCé', 'b', 'é', '%', "'", '*', '\uffff', '😀']
const values: readonly Scalar[] = [null, true, false, 0, 1, -1, 1.5, 10, ...texts]

const id = fc.constantFrom(...ids)
const text = fc.constantFrom(...texts)
const scalar = fc.constantFrom(...values)
/** Sort values have one type or are null: the order between types is unspecified. */
const rank = fc.constantFrom<number | null>(null, -1, 0, 1, 2, 2.5)

const content = fc.record(
  {
    a: scalar,
    b: rank,
    tags: fc.array(text, { maxLength: 3 }),
    parts: fc.array(fc.record({ x: scalar, y: rank }, { requiredKeys: [], noNullPrototype: true }), { maxLength: 3 }),
    key: fc.constantFrom<Scalar>(null, 'k', 'l', 1, true),
    deep: fc.record({ n: rank }, { requiredKeys: [], noNullPrototype: true }),
  },
  { requiredKeys: [], noNullPrototype: true },
)

const field = fc.constantFrom('a', 'a~', 'b', 'tags', 'parts.x', 'parts.y', 'key', 'deep.n', 'deep', 'id', 'none.at.all')

/** Alternatives that indexes can serve, often with duplicates. */
const likely = fc
  .array(
    fc.record({
      op: fc.constant('in'),
      field: fc.constantFrom('a', 'tags', 'parts.x', 'key', 'deep'),
      values: fc.array(fc.constantFrom<Scalar>('a', 'A', 1, true, null), { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((any): Where => ({ op: 'or', any: any as readonly Where[] }))

const { where } = fc.letrec<{ where: Where }>(tie => ({
  where: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    likely,
    fc.tuple(likely, likely).map(all => ({ op: 'and', all })),
    fc.record({ op: fc.constant('eq'), field, value: scalar }),
    fc.record({ op: fc.constant('ne'), field, value: scalar }),
    fc.record({ op: fc.constant('in'), field, values: fc.array(scalar, { maxLength: 4 }) }),
    fc.record({ op: fc.constant('range'), field, gt: fc.constantFrom(-1, 0, 1) }),
    fc.record({ op: fc.constant('range'), field, gte: text, lt: text }),
    fc.record({ op: fc.constant('range'), field, gte: fc.constantFrom(-1, 0, 1), lte: fc.constantFrom(0, 1, 2) }),
    fc.record({ op: fc.constant('prefix'), field, text }),
    fc.record({ op: fc.constant('contains'), field, text }),
    fc.record({ op: fc.constant('exists'), field }),
    fc.record({ op: fc.constant('and'), all: fc.array(tie('where'), { maxLength: 3 }) }),
    fc.record({ op: fc.constant('or'), any: fc.array(tie('where'), { maxLength: 4 }) }),
    fc.record({ op: fc.constant('not'), not: tie('where') }),
  ) as fc.Arbitrary<Where>,
}))

const update = fc.record(
  {
    set: fc.oneof(
      fc.record({ a: scalar }),
      fc.record({ b: rank, key: scalar }),
      fc.record({ 'deep.n': rank }),
      fc.record({ 'a.x': scalar }),
    ),
    unset: fc.constantFrom(['a'], ['tags'], ['deep'], ['key']),
    inc: fc.constantFrom({ b: 1 }, { 'deep.n': -1 }),
    push: fc.constantFrom({ tags: { values: ['a', 'b'] } }, { parts: { values: [{ x: 1 }], keepLast: 2 } }),
    addToSet: fc.constantFrom({ tags: ['a', '😀'] }, { parts: [{ x: 'a' }] }),
    pull: fc.constantFrom({ tags: ['a'] }, { parts: [{ x: 1 }] }),
  },
  { requiredKeys: [], noNullPrototype: true },
)

const guard = fc.option(where, { nil: undefined, freq: 4 }).map(found => (found ? { where: found } : {}))

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(id, content).map(([id, rest]) => ({ insert: { id, ...rest }, into: things })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(id, fc.integer({ min: 1, max: 3 }), content)
      .map(([id, revision, rest]) => ({ replace: { id, revision, ...rest }, in: things })),
  },
  { weight: 4, arbitrary: fc.tuple(id, update, guard).map(([id, changes, when]) => ({ update: id, in: things, ...changes, ...when })) },
  { weight: 1, arbitrary: fc.tuple(id, guard).map(([id, when]) => ({ tombstone: id, in: things, ...when })) },
)

const query = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...indexNames), { minLength: 1, maxLength: 3 }),
    fc.option(where, { nil: undefined, freq: 6 }),
    fc.integer({ min: 1, max: 5 }),
  )
  .chain(([using, found, limit]) =>
    fc
      .record({
        by: fc.constantFrom(...sortable(using[0] ?? '')),
        order: fc.constantFrom<'ascending' | 'descending'>('ascending', 'descending'),
      })
      .map(({ by, order }): Find => ({ using, limit, ...(found ? { where: found } : {}), ...(by === '' ? {} : { sort: { by, order } }) })),
  )

const sortable = (index: string): readonly string[] => [
  '',
  ...((things.indexes as Readonly<Record<string, Index>>)[index]?.on ?? []).filter(path => path === 'b' || path === 'deep.n'),
]

type Kept = Stored & { [key: string]: unknown }

/** A simple in-memory model of a store. */
class Model {
  readonly documents = new Map<string, Kept>()
  events = 0

  /** The name of the error, or the document. */
  apply(change: Change): string | Kept {
    if ('insert' in change) {
      if (this.documents.has(change.insert.id)) return 'exists'
      return this.#put({ ...change.insert, revision: 1 })
    }
    const id = 'replace' in change ? change.replace.id : 'update' in change ? change.update : change.tombstone
    const old = this.documents.get(id)
    if (old === undefined) return 'absent'
    if ('replace' in change)
      return old.revision === change.replace.revision ? this.#put({ ...change.replace, revision: old.revision + 1 }) : 'revision'
    if (!matcher(change.where)(old)) return 'guard'
    if ('tombstone' in change) {
      this.documents.delete(id)
      return old
    }
    const copy = structuredClone(old)
    try {
      applyUpdate(copy, change)
    } catch {
      return 'Invalid'
    }
    return this.#put({ ...copy, revision: old.revision + 1 })
  }

  #put(document: Kept): string | Kept {
    const { byKey } = things.indexes
    const keyOf = (other: Kept): unknown => (byKey ? keysOf(byKey, other)[0]?.[0] : undefined)
    const key = keyOf(document)
    const isTaken = key !== null && [...this.documents.values()].some(other => other.id !== document.id && keyOf(other) === key)
    if (isTaken) return 'byKey'
    this.documents.set(document.id, document)
    return document
  }

  find({ where, sort }: Omit<Find, 'limit'>): readonly Kept[] {
    const sign = sort?.order === 'descending' ? -1 : 1
    const sortValue = (document: Kept) => (sort ? ((valueAt(document, sort.by) ?? null) as Scalar) : null)
    return [...this.documents.values()]
      .filter(matcher(where))
      .sort((a, b) => sign * (compareScalars(sortValue(a), sortValue(b)) || compareScalars(a.id, b.id)))
  }
}

const outcomeOf = (error: Error): string => {
  if (error instanceof CommitConflict) return error.reason
  if (error instanceof Taken) return error.index
  if (error instanceof Invalid) return 'Invalid'
  throw error
}

interface Step {
  readonly change: Change
  readonly events: readonly NewEvent[]
}

const step: fc.Arbitrary<Step> = fc.record({ change, says: fc.nat({ max: 2 }) }).map(({ change, says }) => ({
  change,
  events: Array.from({ length: says }, () => event('dataset.created', { kind: 'dataset', id: 'd' }, {})),
}))

const commitBoth = async (store: DocumentStore, model: Model, steps: readonly Step[]): Promise<void> => {
  const results = await store.commitEach(steps)
  const seen = results.map(result => (result.ok ? result.document : outcomeOf(result.error)))
  const expected = steps.map(({ change, events }) => {
    const outcome = model.apply(change)
    if (typeof outcome !== 'string') model.events += events.length
    return outcome
  })
  assert.deepEqual(seen, expected)
  const waiting = await store.outbox.waiting()
  assert.equal(waiting['model/all'], model.events)
}

const findBoth = async (store: DocumentStore, model: Model, query: Find): Promise<void> => {
  const expected = model.find(query)
  const found: Stored[] = []
  let after: After | undefined
  do {
    const page = await store.find(things, after ? { ...query, after } : query)
    assert.ok(page.next ? page.items.length === query.limit : page.items.length <= query.limit, 'a page has the wrong length')
    found.push(...page.items)
    after = page.next
  } while (after && found.length <= expected.length)
  assert.deepEqual(found, expected)
  const { using, where, sort } = query
  assert.equal(await store.count(things, { using, ...(where ? { where } : {}), upTo: 3 }), Math.min(3, expected.length))
  const scanned: string[] = []
  for await (const { id } of store.scan(things, { using, ...(where ? { where } : {}), ...(sort ? { sort } : {}) })) scanned.push(id)
  const expectedIds = expected.map(({ id }) => id)
  assert.deepEqual(sort ? scanned : scanned.sort(), sort ? expectedIds : expectedIds.sort())
}

/** The body of the test `documentStoreModel`. */
export const runDocumentStoreModel = async (t: TestContext, make: MakeDocumentStore, runs: number): Promise<void> => {
  const store = await make(t, { clock: new FixedClock(), ids: countingIds() })
  await store.declare([things])
  await store.outbox.declareConsumers([{ name: 'model/all', types: '*' }])
  const seed = Number(process.env['POUNCE_SEED'] ?? Date.now() & 0x7fffffff)
  t.log(`seed ${seed}`)
  const model = new Model()
  const steps = fc.array(step, { minLength: 1, maxLength: 15 })
  const run = fc.asyncProperty(steps, steps, fc.array(query, { minLength: 1, maxLength: 5 }), async (first, second, queries) => {
    const clear = [...model.documents.keys()].map((tombstone): Step => ({ change: { tombstone, in: things }, events: [] }))
    await commitBoth(store, model, [...clear, ...first])
    await commitBoth(store, model, second)
    for (const query of queries) await findBoth(store, model, query)
  })
  await t.notThrowsAsync(fc.assert(run, { numRuns: runs, seed }))
}
