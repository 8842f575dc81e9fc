import { CommitConflict, Conflict, DocumentStore, eq, Ids, NotFound, type Stored, Taken, wire } from 'pounce/sdk'
import { type LabelRecord, labels } from './collections.ts'

export type Label = LabelRecord & Stored

const maxLabels = 1000

/** Labels for extractors, in categories. */
export class StoredLabels {
  #documents: DocumentStore
  #ids: Ids

  constructor(documents: DocumentStore, ids: Ids) {
    this.#documents = documents
    this.#ids = ids
  }

  /** By name, at most 1,000. */
  async all(): Promise<readonly Label[]> {
    return (await this.#documents.find(labels, { using: 'byName', sort: { by: 'name', order: 'ascending' }, limit: maxLabels })).items
  }

  /** Throws `Conflict` when the name is in use. */
  async create(label: LabelRecord): Promise<Label> {
    if ((await this.#documents.count(labels, { using: 'byName', upTo: maxLabels })) >= maxLabels) {
      throw new Conflict(`Maximum of ${maxLabels} labels reached; delete some`)
    }
    return named(label.name, this.#documents.commit({ insert: { id: this.#ids.next(), ...label }, into: labels }))
  }

  async replace(id: string, label: LabelRecord): Promise<Label> {
    try {
      return await named(label.name, this.#documents.commit({ update: id, in: labels, set: { ...label } }))
    } catch (error) {
      throw error instanceof CommitConflict ? new NotFound('label', { cause: error }) : error
    }
  }

  /** Resolves to the deleted label. */
  async remove(id: string): Promise<Label> {
    try {
      return await this.#documents.commit({ tombstone: id, in: labels })
    } catch (error) {
      throw error instanceof CommitConflict ? new NotFound('label', { cause: error }) : error
    }
  }

  /** Assigns the labels that an extractor declares, `Category/Name` or `Name` (category Other); missing labels are created. */
  async assign(texts: readonly string[], extractor: string): Promise<void> {
    for (const text of texts) {
      const slash = text.indexOf('/')
      const name = text.slice(slash + 1).trim()
      if (name === '') continue
      const known = (await this.#documents.find(labels, { using: 'byName', where: eq('name', name), limit: 1 })).items[0]
      try {
        if (known) await this.#documents.commit({ update: known.id, in: labels, addToSet: { extractors: [extractor] } })
        else await this.create({ name, category: slash > 0 ? text.slice(0, slash).trim() : 'Other', extractors: [extractor] })
      } catch (error) {
        // The limit is reached, or the label was created or deleted concurrently: a label must not fail a registration.
        if (!(error instanceof Conflict)) throw error
      }
    }
  }
}
wire(StoredLabels, DocumentStore, Ids)
const named = async (name: string, commit: Promise<Label>): Promise<Label> => {
  try {
    return await commit
  } catch (error) {
    throw error instanceof Taken ? new Conflict(`Label ${name} already exists`, { cause: error }) : error
  }
}
