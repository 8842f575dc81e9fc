import {
  type Caller,
  CommitConflict,
  type Contributions,
  collection,
  Datasets,
  DocumentStore,
  Invalid,
  type Permission,
  Policy,
  Problem,
  signedIn,
  Tags,
  type TrashHandler,
  TrashHandlers,
  wire,
} from 'pounce/sdk'
import { personalRecords } from 'pounce/sdk/kit'

/** The selection of a user; the record's id is that of the user. Oldest first. */
interface Selection {
  readonly datasets: readonly string[]
}

export const selections = collection<Selection>()('selected')

/** Maximum size of a selection, which is that of one query to the policy. */
export const maxSelected = 1000

export const PersonalSelection = personalRecords({
  name: 'selection',
  summary: 'Datasets that you have selected.',
  in: selections,
  isOf: (selection, { id }) => selection.id === id,
  show: ({ datasets }) => ({ datasets }),
  erase: () => 'remove',
})

/** The outcome for a dataset of a selection. */
export interface SelectionOutcome {
  readonly id: string
  readonly status: 'done' | 'refused'
  /** The reason of a refusal. */
  readonly message?: string
}

/** The selections of users, and operations on all selected datasets. */
export class Selections {
  #documents: DocumentStore
  #datasets: Datasets
  #policy: Policy
  #tags: Tags
  #trashHandlers: Contributions<TrashHandler>

  constructor(documents: DocumentStore, datasets: Datasets, policy: Policy, tags: Tags, trashHandlers: Contributions<TrashHandler>) {
    this.#documents = documents
    this.#datasets = datasets
    this.#policy = policy
    this.#tags = tags
    this.#trashHandlers = trashHandlers
  }

  /** The selected datasets that exist and that the caller may view, in order of selection. */
  async of(caller: Caller): Promise<readonly string[]> {
    return this.#withRight(caller, 'ViewDataset')
  }

  /** The selected datasets that the caller may download. */
  async downloadable(caller: Caller): Promise<readonly string[]> {
    return this.#withRight(caller, 'DownloadFiles')
  }

  /** Adds a dataset that the caller may view; returns the number of datasets in `of`. Idempotent. */
  async add(caller: Caller, dataset: string): Promise<number> {
    const { id } = signedIn(caller)
    for (;;) {
      const selected = await this.#selected(id)
      if (selected.includes(dataset)) break
      if (selected.length >= maxSelected && !(await this.#forgetDeleted(id, selected)))
        throw new Invalid(`At most ${maxSelected} datasets can be selected; deselect some first`)
      try {
        if (await this.#documents.get(selections, id))
          await this.#documents.commit({ update: id, in: selections, addToSet: { datasets: [dataset] } })
        else await this.#documents.commit({ insert: { id, datasets: [dataset] }, into: selections })
        break
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
    }
    return (await this.of(caller)).length
  }

  /** Removes datasets from the selection; returns the number of datasets in `of`. Datasets that are not selected are not an error. */
  async remove(caller: Caller, datasets: readonly string[]): Promise<number> {
    const { id } = signedIn(caller)
    if (!(await this.#documents.get(selections, id))) return 0
    await this.#documents.commit({ update: id, in: selections, pull: { datasets } })
    return (await this.of(caller)).length
  }

  /** Removes datasets that were deleted permanently; false if there are none. */
  async #forgetDeleted(id: string, held: readonly string[]): Promise<boolean> {
    const there = await this.#datasets.getMany(held)
    const missing = held.filter(each => !there.has(each))
    if (missing.length > 0) await this.#documents.commit({ update: id, in: selections, pull: { datasets: missing } })
    return missing.length > 0
  }

  async clear(caller: Caller): Promise<void> {
    await this.remove(caller, await this.#selected(signedIn(caller).id))
  }

  /** Adds tags to each dataset where the caller has the right; the selection is unchanged. */
  async tag(caller: Caller, names: readonly string[]): Promise<readonly SelectionOutcome[]> {
    const user = signedIn(caller).id
    return this.#each(caller, 'AddTag', async id => {
      await this.#tags.add({ kind: 'dataset', id }, names, { user })
    })
  }

  /** Deletes each dataset where the caller has the right, to the trash if it is enabled. Deleted ones are removed from the selection. */
  async discard(caller: Caller): Promise<readonly SelectionOutcome[]> {
    const bin = this.#trashHandlers.all().find(({ kind }) => kind === 'dataset')
    if (!bin) throw new Invalid('Deleting datasets is not available')
    const outcomes = await this.#each(caller, 'DeleteDataset', id => bin.discard(id, caller.user?.id))
    const done = outcomes.filter(({ status }) => status === 'done').map(({ id }) => id)
    if (done.length > 0) await this.remove(caller, done)
    return outcomes
  }

  async #selected(user: string): Promise<readonly string[]> {
    return (await this.#documents.get(selections, user))?.datasets ?? []
  }

  async #withRight(caller: Caller, permission: Permission): Promise<readonly string[]> {
    const held = await this.#selected(signedIn(caller).id)
    const seen = await this.#policy.allowed(caller, 'ViewDataset', 'dataset', held)
    const allowed = permission === 'ViewDataset' ? seen : await this.#policy.allowed(caller, permission, 'dataset', [...seen])
    const there = await this.#datasets.getMany([...allowed])
    return held.filter(id => there.get(id)?.state === 'live')
  }

  async #each(caller: Caller, permission: Permission, work: (id: string) => Promise<void>): Promise<readonly SelectionOutcome[]> {
    const seen = await this.of(caller)
    const allowed = await this.#policy.allowed(caller, permission, 'dataset', seen)
    const outcomes: SelectionOutcome[] = []
    for (const id of seen) {
      if (allowed.has(id)) outcomes.push(await outcomeOf(id, work))
      else outcomes.push({ id, status: 'refused', message: `Permission denied: ${permission} required on this dataset` })
    }
    return outcomes
  }
}
wire(Selections, DocumentStore, Datasets, Policy, Tags, TrashHandlers)

/** A dataset that was changed or deleted meanwhile does not stop the others; a server error does. */
const outcomeOf = async (id: string, work: (id: string) => Promise<void>): Promise<SelectionOutcome> => {
  try {
    await work(id)
    return { id, status: 'done' }
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    return { id, status: 'refused', message: error.message }
  }
}
