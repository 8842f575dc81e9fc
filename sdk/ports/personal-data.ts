import type { NewEvent } from '../events.ts'
import type { UserRecord } from '../model/people.ts'
import type { Tag } from '../model/records.ts'
import { contributions } from '../port.ts'
import { requireDone } from '../remove-found.ts'
import { wire } from '../wire.ts'
import { type Change, type Collection, DocumentStore, type Find, type Stored, type Update } from './document-store.ts'

/** An account as stored, with its id. */
export type Person = UserRecord & Stored

/** A person whose personal data is being erased. */
export interface Erasure {
  /** The account, unchanged until every contributor is done. */
  readonly person: Person
  /** The account that inherits the person's resources; undefined: they stay with the pseudonymized account. */
  readonly heir: string | undefined
}

/** What a plugin stores about people. Required for every collection that refers to accounts or contains copies of names or addresses. */
export interface PersonalData {
  /** Name of the exported file, without extension; contributions with the same name share one file. */
  readonly name: string
  /** One sentence describing the file to the person. */
  readonly summary: string
  /** Names of the collections that it covers. */
  readonly collections: readonly string[]
  /** The data stored about a person: no secrets, and nothing about anyone else. */
  export(person: Person): AsyncIterable<object>
  /** Erases or transfers the data. Called again after a failure, and must then complete the rest. */
  erase(erasure: Erasure): Promise<void>
}
/** Plugins that store personal data. */
export const PersonalDataSources = contributions<PersonalData>('personalData')

/** What to do with one record. Personal references inside arrays must be pulled, so that concurrent changes are kept. */
export type Erased = 'remove' | (Update & { readonly events?: readonly NewEvent[] })

/** Records of one collection that refer to people. */
export interface PersonalRecords<T extends object> {
  readonly name: string
  readonly summary: string
  readonly in: Collection<T>
  /** Finds a person's records by an index; absent: the whole collection is scanned. */
  readonly find?: (person: Person) => Pick<Find, 'using' | 'where'>
  /** Whether a scanned record belongs to the person. */
  readonly isOf: (record: T & Stored, person: Person) => boolean
  readonly show: (record: T & Stored, person: Person) => object
  /** Absent: records keep the account id, which then belongs to a pseudonym. */
  readonly erase?: (record: T & Stored, erasure: Erasure) => Erased | undefined
}

const batchSize = 200

/** Creates the `PersonalData` of a collection. */
export const personalRecords = <T extends object>(about: PersonalRecords<T>): (new (documents: DocumentStore) => PersonalData) => {
  class OfCollection implements PersonalData {
    readonly name = about.name
    readonly summary = about.summary
    readonly collections = [about.in.name]
    readonly #documents: DocumentStore

    constructor(documents: DocumentStore) {
      this.#documents = documents
    }

    async *export(person: Person): AsyncIterable<object> {
      for await (const record of this.#of(person)) yield about.show(record, person)
    }

    async erase(erasure: Erasure): Promise<void> {
      if (!about.erase) return
      let changes: { change: Change<T>; events: readonly NewEvent[] }[] = []
      for await (const record of this.#of(erasure.person)) {
        const erased = about.erase(record, erasure)
        if (erased) changes.push(changeOf(record.id, erased))
        if (changes.length < batchSize) continue
        requireDone(await this.#documents.commitEach(changes))
        changes = []
      }
      if (changes.length > 0) requireDone(await this.#documents.commitEach(changes))
    }

    async *#of(person: Person): AsyncIterable<T & Stored> {
      const records = about.find ? this.#documents.scan(about.in, about.find(person)) : this.#documents.walk(about.in)
      for await (const record of records) if (about.isOf(record, person)) yield record
    }
  }
  const changeOf = (id: string, erased: Erased): { change: Change<T>; events: readonly NewEvent[] } => {
    if (erased === 'remove') return { change: { tombstone: id, in: about.in }, events: [] }
    const { events = [], ...update } = erased
    return { change: { update: id, in: about.in, ...update }, events }
  }
  wire(OfCollection, DocumentStore)
  return OfCollection
}

type Shown = Readonly<Record<string, unknown>>

const membersOf = (record: object, members: readonly PropertyKey[]): Shown =>
  Object.fromEntries(members.map(member => [member, record[member as never]]))

/** `PersonalRecords` members for records with an author; exports their id and the given members. */
export const createdBy = <T extends { readonly author: string | null }>(
  ...members: readonly (keyof T)[]
): Pick<PersonalRecords<T>, 'isOf' | 'show'> => ({
  isOf: ({ author }, { id }) => author === id,
  show: record => membersOf(record, ['id', ...members]),
})

/** The same for records with tags, where tags that the person added to any record are exported too. */
export const createdOrTaggedBy = <T extends { readonly author: string | null; readonly tags: readonly Tag[] }>(
  ...members: readonly (keyof T)[]
): Pick<PersonalRecords<T>, 'isOf' | 'show'> => ({
  isOf: ({ author, tags }, person) => author === person.id || tags.some(({ user }) => user === person.id),
  show: (record, person) => ({
    id: record.id,
    ...(record.author === person.id ? membersOf(record, members) : {}),
    tags: record.tags.filter(({ user }) => user === person.id).map(({ id, name, created }) => ({ id, name, created })),
  }),
})

/** Transfers authorship to the heir, if there is one. */
export const transferred =
  (events: (id: string) => readonly NewEvent[] = () => []) =>
  ({ id, author }: { readonly id: string; readonly author: string | null }, { person, heir }: Erasure): Erased | undefined =>
    heir !== undefined && author === person.id ? { set: { author: heir }, events: events(id) } : undefined

/** The name of someone whose account was erased. */
export const erasedName = { firstName: 'Deleted', lastName: 'User' } as const
