import {
  type Command,
  CommitConflict,
  type Contributions,
  DocumentStore,
  eq,
  type FileRecord,
  type Kind,
  type Resource,
  Resources,
  wire,
} from 'pounce/sdk'
import { type DoctorRow, doctorRow } from 'pounce/sdk/kit'
import { counters, none, type TotalName, type Totals, theCounter, totalNames } from './stored-counters.ts'

type Change = Partial<Record<TotalName, number>>

const isLive = (record: object): boolean => (record as { readonly state?: string }).state === 'live'

/** What a record adds to the totals; see `changes` of the counters. */
const shares: Readonly<Partial<Record<Kind, (record: object) => Change>>> = {
  space: () => ({ spaces: 1 }),
  collection: record => (isLive(record) ? { collections: 1 } : {}),
  dataset: record => (isLive(record) ? { datasets: 1 } : {}),
  file: record => {
    const { untold, sizeBytes } = record as FileRecord
    return untold ? {} : { files: 1, bytes: sizeBytes }
  },
  user: () => ({ users: 1 }),
}

interface Difference {
  readonly name: TotalName
  readonly counted: number
  readonly recounted: number
}

/** The part of `pounce doctor` that compares the totals of the installation with a recount, and corrects them in repair mode. */
export class TotalsDoctor implements Command {
  readonly name = 'doctor'
  readonly summary = 'Check the installation for problems; changes nothing without an option'
  readonly #documents: DocumentStore
  readonly #resources: Contributions<Resource>

  constructor(documents: DocumentStore, resources: Contributions<Resource>) {
    this.#documents = documents
    this.#resources = resources
  }

  async run({ options }: Parameters<Command['run']>[0], progress: (message: string) => void): Promise<readonly DoctorRow[]> {
    progress('totals')
    let differences = await this.#differences()
    const again = async (): Promise<readonly Difference[]> => {
      differences = await this.#differences()
      return differences
    }
    const row = await doctorRow(this.#documents, 'totals', differences.length === 0 ? [] : [differences], {
      remains: async () => (await again()).length > 0,
      text: () => differences.map(({ name, counted, recounted }) => `${counted} ${name} instead of ${recounted}`).join(', '),
    })
    if (row.ok || options['repair'] !== true) return [row]
    return [(await this.#correct(differences)) ? { ...row, ok: true, detail: `corrected: ${row.detail}` } : row]
  }

  /** None when events were counted during the recount. */
  async #differences(): Promise<readonly Difference[]> {
    const before = await this.#documents.get(counters, theCounter)
    const recounted = await this.#recount()
    const after = await this.#documents.get(counters, theCounter)
    if (before?.revision !== after?.revision) return []
    return totalNames
      .map(name => ({ name, counted: (after ?? none)[name], recounted: recounted[name] }))
      .filter(({ counted, recounted: now }) => counted !== now)
  }

  async #recount(): Promise<Totals> {
    const totals: Record<TotalName, number> = { ...none }
    for (const { kind, references } of this.#resources.all()) {
      const share = shares[kind]
      if (!share || !references) continue
      for await (const record of this.#documents.walk(references.in))
        for (const [name, by] of Object.entries(share(record))) totals[name as TotalName] += by
    }
    return totals
  }

  /** False if events were counted meanwhile. */
  async #correct(differences: readonly Difference[]): Promise<boolean> {
    const set = Object.fromEntries(differences.map(({ name, recounted }) => [name, recounted]))
    const record = await this.#documents.get(counters, theCounter)
    if (!record || differences.some(({ name, counted }) => record[name] !== counted)) return false
    try {
      await this.#documents.commit({ update: theCounter, in: counters, where: eq('revision', record.revision), set })
      return true
    } catch (error) {
      if (error instanceof CommitConflict) return false
      throw error
    }
  }
}
wire(TotalsDoctor, DocumentStore, Resources)
