import {
  type Command,
  type Contributions,
  DocumentStore,
  type Kind,
  type Ref,
  type Resource,
  Resources,
  type Stored,
  wire,
} from 'pounce/sdk'
import { type DoctorRow, doctorRow, inBatches, type ResourceReferences } from 'pounce/sdk/kit'

const batchSize = 500
/** Maximum number of findings of a check that are kept. */
const maxFound = 1000

/** A reference to a resource that does not exist, or, without `missing`, a container that is inside itself. */
interface Finding {
  readonly record: Ref
  readonly missing?: Ref
}

const textOf = ({ record, missing }: Finding): string =>
  `${record.kind} ${record.id}${missing ? ` refers to ${missing.kind} ${missing.id}` : ''}`

/** The parts of `pounce doctor` that find references to resources that do not exist, and collections or folders that are inside themselves. */
export class ReferenceDoctor implements Command {
  readonly name = 'doctor'
  readonly summary = 'Check the installation for problems; changes nothing without an option'
  readonly #documents: DocumentStore
  readonly #resources: Contributions<Resource>

  constructor(documents: DocumentStore, resources: Contributions<Resource>) {
    this.#documents = documents
    this.#resources = resources
  }

  async run(_input: unknown, progress: (message: string) => void): Promise<readonly DoctorRow[]> {
    const kinds = this.#resources.all().flatMap(({ kind, references }) => (references ? [[kind, references] as const] : []))
    const check = new ReferenceCheck(this.#documents, new Map(kinds))
    const dangling: Finding[] = []
    const cyclic: Finding[] = []
    for (const [kind, { in: records }] of kinds) {
      progress(`references of ${kind} records`)
      for await (const batch of inBatches(this.#documents.walk(records), { size: batchSize })) {
        if (dangling.length < maxFound) dangling.push(...(await check.danglingIn(kind, batch)))
        if (cyclic.length < maxFound) cyclic.push(...(await check.cyclicIn(kind, batch)))
      }
    }
    const again = { remains: (finding: Finding) => check.remains(finding), text: textOf }
    return [
      await doctorRow(this.#documents, 'references', dangling, again),
      await doctorRow(this.#documents, 'hierarchy', cyclic, { ...again, text: finding => `${textOf(finding)} is inside itself` }),
    ]
  }
}
wire(ReferenceDoctor, DocumentStore, Resources)

/** Resolves the references of records, in batches. References to kinds of plugins that are not loaded are ignored: their records are unknown. */
class ReferenceCheck {
  readonly #documents: DocumentStore
  readonly #kinds: ReadonlyMap<Kind, ResourceReferences>

  constructor(documents: DocumentStore, kinds: ReadonlyMap<Kind, ResourceReferences>) {
    this.#documents = documents
    this.#kinds = kinds
  }

  async danglingIn(kind: Kind, batch: readonly Stored[]): Promise<readonly Finding[]> {
    const named = batch.flatMap(record => this.#referencesOf(kind, record).map(missing => ({ record: { kind, id: record.id }, missing })))
    const existing = new Map<Kind, ReadonlyMap<string, Stored>>()
    for (const [target, some] of Map.groupBy(named, ({ missing }) => missing.kind))
      existing.set(target, await this.#recordsOf(target, [...new Set(some.map(({ missing }) => missing.id))]))
    return named.filter(({ missing }) => !existing.get(missing.kind)?.has(missing.id))
  }

  async cyclicIn(kind: Kind, batch: readonly Stored[]): Promise<readonly Finding[]> {
    const parents = new Map<string, readonly string[]>()
    for (let open = batch; open.length > 0; ) {
      for (const record of open) parents.set(record.id, this.#parentsOf(kind, record))
      const next = new Set(open.flatMap(({ id }) => parents.get(id) ?? []).filter(id => !parents.has(id)))
      open = [...(await this.#recordsOf(kind, [...next])).values()]
    }
    return batch.filter(({ id }) => isBelowItself(id, parents)).map(({ id }) => ({ record: { kind, id } }))
  }

  async remains({ record: { kind, id }, missing }: Finding): Promise<boolean> {
    const records = [...(await this.#recordsOf(kind, [id])).values()]
    if (!missing) return (await this.cyclicIn(kind, records)).length > 0
    const dangling = await this.danglingIn(kind, records)
    return dangling.some(found => found.missing?.kind === missing.kind && found.missing.id === missing.id)
  }

  /** Of the kinds whose resources refer to others of their kind, collections and folders, these are the containers. */
  #parentsOf(kind: Kind, record: Stored): readonly string[] {
    return this.#referencesOf(kind, record).flatMap(ref => (ref.kind === kind ? [ref.id] : []))
  }

  #referencesOf(kind: Kind, record: Stored): readonly Ref[] {
    return (this.#kinds.get(kind)?.of(record) ?? []).filter(ref => this.#kinds.has(ref.kind))
  }

  async #recordsOf(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, Stored>> {
    const found = new Map<string, Stored>()
    const records = this.#kinds.get(kind)?.in
    if (!records) return found
    for (let at = 0; at < ids.length; at += batchSize)
      for (const [id, record] of await this.#documents.getMany(records, ids.slice(at, at + batchSize))) found.set(id, record)
    return found
  }
}

const isBelowItself = (id: string, parents: ReadonlyMap<string, readonly string[]>): boolean => {
  const met = new Set<string>()
  const open = [...(parents.get(id) ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === id) return true
    if (met.has(next)) continue
    met.add(next)
    open.push(...(parents.get(next) ?? []))
  }
  return false
}
