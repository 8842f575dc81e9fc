import type { NewEvent } from '../events.ts'
import type { UserRecord } from '../model/people.ts'
import type { Tag } from '../model/records.ts'
import { contributions } from '../port.ts'
import { requireDone } from '../remove-found.ts'
import { wire } from '../wire.ts'
import { type Change, type Collection, DocumentStore, type Find, type Stored, type Update } from './document-store.ts'

/** An account as stored, with its id. */
export type Person = UserRecord & Stored

/** Someone whose personal data is erased. */
export interface Erasure {
  /** As the account is until every contributor is done. */
  readonly person: Person
  /** The account that gets what the person made; undefined: it stays with the pseudonymous account. */
  readonly heir: string | undefined
}

/** What a plugin stores about people. Every collection with a reference to an account, or a copy of a name or address, needs one. */
export interface PersonalData {
  /** Name of the file in an export, without its suffix; several contributions of one name go into one file. */
  readonly name: string
  /** One sentence about the file, for the person. */
  readonly summary: string
  /** Names of the collections that it answers for. */
  readonly collections: readonly string[]
  /** What is stored about a person: no secrets, and nothing about anyone else. */
  export(person: Person): AsyncIterable<object>
  /** Erases or transfers it. Called again after a failure, and must then complete what is left. */
  erase(erasure: Erasure): Promise<void>
}
/** Plugins that store personal data. */
export const PersonalDataSources = contributions<PersonalData>('personalData')

/** What becomes of one record. Personal references inside arrays are pulled, so that concurrent changes are kept. */
export type Erased = 'remove' | (Update & { readonly events?: readonly NewEvent[] })

/** Records of one collection that refer to people. */
export interface PersonalRecords<T extends object> {
  readonly name: string
  readonly summary: string
  readonly in: Collection<T>
  /** Finds a person's records by an index; absent: the whole collection is read. */
  readonly find?: (person: Person) => Pick<Find, 'using' | 'where'>
  /** Which of the records that were read are the person's. */
  readonly isOf: (record: T & Stored, person: Person) => boolean
  readonly show: (record: T & Stored, person: Person) => object
  /** Absent: records keep the id of the account, which names no one any more. */
  readonly erase?: (record: T & Stored, erasure: Erasure) => Erased | undefined
}

const batch = 200

/** The `PersonalData` of a collection. */
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
        if (changes.length < batch) continue
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

/** Members of `PersonalRecords` for records that a person created; they are shown with their id and the members named. */
export const createdBy = <T extends { readonly author: string | null }>(
  ...members: readonly (keyof T)[]
): Pick<PersonalRecords<T>, 'isOf' | 'show'> => ({
  isOf: ({ author }, { id }) => author === id,
  show: record => membersOf(record, ['id', ...members]),
})

/** The same for records that also have tags: those that a person added are shown, on whatever record. */
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
