import { CommitConflict, type Stored, Taken } from 'pounce/sdk'
import type { Connection } from 'pounce/sdk/sqlite'
import { applyUpdate, type Change, checkId, type Index, type Key, keysOf, matcher } from 'pounce/sdk/store-kit'
import { addEntries, keyHolder, removeEntries, sameKey } from './entries.ts'
import type { PreparedWrite } from './group-commit.ts'
import type { OutboxConsumer } from './outbox-consumer.ts'
import * as tables from './outbox-tables.ts'
import type { OutboxWiring } from './sqlite-outbox.ts'
import type { CollectionTable } from './table.ts'

/** A change whose conditions hold: `write` carries it out, `document` is what the caller gets. */
export interface Planned {
  readonly document: Stored
  /** The document as it is stored then; undefined of one that is removed. */
  readonly text: string | undefined
  write(): void
}

interface Found {
  readonly row: number
  readonly text: string
}

const find = (db: Connection, { table }: CollectionTable, id: string): Found | undefined => {
  const found = db.get(`SELECT r, doc FROM ${table} WHERE id = ?`, id)
  return found && { row: Number(found[0]), text: String(found[1]) }
}

const existing = (db: Connection, table: CollectionTable, id: string): Found => {
  const found = find(db, table, id)
  if (found === undefined) throw new CommitConflict('absent', `${table.collection} has no ${id}`)
  return found
}

const allKeys = (table: CollectionTable, document: unknown): readonly (readonly Key[])[] =>
  table.indexes.map(({ index }) => keysOf(index, document))

const checkUnique = (db: Connection, table: CollectionTable, keys: readonly (readonly Key[])[], id: string): void => {
  for (const [at, index] of table.indexes.entries()) {
    const key = keys[at]?.[0]
    if (!index.index.unique || key === undefined) continue
    const holder = keyHolder(db, index, key)
    if (holder !== undefined && holder !== id) throw new Taken(index.name, takenMessage(index.index, key))
  }
}

const takenMessage = ({ on }: Index, key: Key): string => `${on.map((path, at) => `${path} ${key[at]}`).join(', ')} is already in use`

/** Characters of a document of which no more than is needed is done at a time. */
const largeText = 16 * 1024

/** The members of a document that indexes look at, as they are stored. */
const keyedPart = ({ indexes }: CollectionTable, document: object): unknown => {
  const roots = new Set(indexes.flatMap(({ index }) => index.on.map(path => path.split('.')[0]?.replace(/~$/, ''))))
  return JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(document).filter(([name]) => roots.has(name)))))
}

const planInsert = (db: Connection, table: CollectionTable, input: object & { readonly id: string }): Planned => {
  checkId(input.id)
  if (find(db, table, input.id)) throw new CommitConflict('exists', `${table.collection} already has ${input.id}`)
  const { id, revision: _, ...rest } = input as Stored
  const text = JSON.stringify({ id, revision: 1, ...rest })
  // Nearly everyone would throw the copy of a large document away.
  const copy = text.length > largeText ? undefined : (JSON.parse(text) as Stored)
  const keys = allKeys(table, copy ?? keyedPart(table, input))
  checkUnique(db, table, keys, id)
  return {
    document: copy ?? ({ id, revision: 1, ...rest } as Stored),
    text,
    write() {
      const row = db.insert(`INSERT INTO ${table.table}(id, doc) VALUES (?, ?)`, id, text)
      for (const [at, index] of table.indexes.entries()) addEntries(db, index, keys[at] ?? [], id, row)
    },
  }
}

const areSame = (keys: readonly Key[], others: readonly Key[]): boolean =>
  keys.length === others.length && keys.every((key, at) => sameKey(key, others[at] ?? []))

/** Most changes leave most keys as they are; names and what people follow have many. */
const without = (keys: readonly Key[], others: readonly Key[]): readonly Key[] => {
  if (areSame(keys, others)) return []
  if (keys.length < 16) return keys.filter(key => !others.some(other => sameKey(key, other)))
  const known = new Set(others.map(other => JSON.stringify(other)))
  return keys.filter(key => !known.has(JSON.stringify(key)))
}

const planRewrite = (
  db: Connection,
  table: CollectionTable,
  row: number,
  oldKeys: readonly (readonly Key[])[],
  text: string,
  document: Stored,
): Planned => {
  const { id } = document
  const keys = allKeys(table, document)
  checkUnique(db, table, keys, id)
  return {
    document,
    text,
    write() {
      db.run(`UPDATE ${table.table} SET doc = ? WHERE r = ?`, text, row)
      for (const [at, index] of table.indexes.entries()) {
        const before = oldKeys[at] ?? []
        const after = keys[at] ?? []
        removeEntries(db, index, without(before, after), id)
        addEntries(db, index, without(after, before), id, row)
      }
    },
  }
}

const planReplace = (db: Connection, table: CollectionTable, input: Stored): Planned => {
  const { row, text: oldText } = existing(db, table, input.id)
  const old = JSON.parse(oldText) as Stored
  if (old.revision !== input.revision) {
    throw new CommitConflict('revision', `${table.collection} ${input.id} is at revision ${old.revision}, not ${input.revision}`)
  }
  const { id, revision, ...rest } = input
  const text = JSON.stringify({ id, revision: revision + 1, ...rest })
  return planRewrite(db, table, row, allKeys(table, old), text, JSON.parse(text) as Stored)
}

const planUpdate = (db: Connection, table: CollectionTable, change: Extract<Change, { update: string }>): Planned => {
  const { row, text: oldText } = existing(db, table, change.update)
  const document = JSON.parse(oldText) as { id: string; revision: number }
  guard(table, document, change.where)
  const oldKeys = allKeys(table, document)
  applyUpdate(document, change)
  document.revision += 1
  return planRewrite(db, table, row, oldKeys, JSON.stringify(document), document)
}

const planTombstone = (db: Connection, table: CollectionTable, change: Extract<Change, { tombstone: string }>): Planned => {
  const { row, text } = existing(db, table, change.tombstone)
  const document = JSON.parse(text) as Stored
  guard(table, document, change.where)
  const keys = allKeys(table, document)
  return {
    document,
    text: undefined,
    write() {
      db.run(`DELETE FROM ${table.table} WHERE r = ?`, row)
      for (const [at, index] of table.indexes.entries()) removeEntries(db, index, keys[at] ?? [], document.id)
    },
  }
}

const guard = (table: CollectionTable, document: Stored, where: Parameters<typeof matcher>[0]): void => {
  if (!matcher(where)(document)) throw new CommitConflict('guard', `${table.collection} ${document.id} is not in the state this needs`)
}

/** The collection a change is about. */
export const collectionOf = (change: Change) => ('insert' in change ? change.into : change.in)

/** Checks a change against the data as it stands in the open transaction. Throws the error for the caller; writes nothing yet. */
export const planChange = (db: Connection, table: CollectionTable, change: Change): Planned => {
  if ('insert' in change) return planInsert(db, table, change.insert)
  if ('replace' in change) return planReplace(db, table, change.replace)
  if ('update' in change) return planUpdate(db, table, change)
  return planTombstone(db, table, change)
}

/** A change of the outbox's tables as one piece of work of the next transaction. Resolves once it is durable. */
export const change = (commits: OutboxWiring['commits'], plan: () => PreparedWrite): Promise<void> =>
  new Promise((resolve, reject) => {
    commits.add({
      refuse: reject,
      plan: () => {
        const { write, finish } = plan()
        return {
          write,
          finish: () => {
            finish()
            resolve()
          },
        }
      },
    })
  })

/** Makes a dead letter due again, or drops it. */
export const settlingDeadLetter = (
  tools: { readonly db: Connection; readonly due: number; prunedTo(): string; notify(): void },
  consumer: OutboxConsumer,
  event: string,
  how: 'retry' | 'drop',
): PreparedWrite => {
  const { db, due } = tools
  const applies = tables.isDeadLetter(db, consumer.id, event)
  return {
    write: () => {
      if (!applies) return
      if (how === 'drop') tables.removeFailure(db, consumer.id, event, tools.prunedTo())
      else tables.writeFailure(db, { consumer: consumer.id, event, attempts: 0, due, error: '', parkedAt: null })
    },
    finish: () => {
      if (!applies || how !== 'retry') return
      consumer.retries.set(event, { attempts: 0, due })
      consumer.waiting++
      tools.notify()
    },
  }
}
