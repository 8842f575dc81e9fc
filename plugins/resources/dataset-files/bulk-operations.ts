import { authorize, type BulkOperations, Files, Invalid, type Kind, NotFound, type Place, Policy, wire } from 'pounce/sdk'
import type { BulkAct, BulkOperation, BulkRequest } from 'pounce/sdk/kit'
import { FilePlaces, placeOf } from './file-places.ts'

/** Moves files for bulk jobs, as the routes of one file do. */
export class MoveFiles implements BulkOperations {
  readonly #files: Files
  readonly #places: FilePlaces
  readonly #policy: Policy

  constructor(files: Files, places: FilePlaces, policy: Policy) {
    this.#files = files
    this.#places = places
    this.#policy = policy
  }

  of(act: BulkAct, kind: Kind): BulkOperation | undefined {
    return act === 'move' && kind === 'file' ? (request, id) => this.#move(request, id) : undefined
  }

  async #move({ caller, parameters: { to, from } }: BulkRequest, id: string): Promise<void> {
    if (!to) throw new Invalid('to is missing: the dataset, or the folder in it, to move to')
    await authorize(this.#policy, caller, 'ViewFile', { kind: 'file', id })
    const file = await this.#files.get(id)
    if (!file) throw new NotFound('file')
    const goal = placeOf(to.dataset, to.folder)
    const source = from ? placeOf(from.dataset, from.folder) : onlyPlace(file.places)
    // A repeated step finds the file moved already.
    if (file.places.some(place => place.in === goal.in) && !file.places.some(place => place.in === source.in)) return
    await authorize(this.#policy, caller, 'AddResourceToDataset', { kind: 'dataset', id: source.dataset })
    if (source.dataset !== goal.dataset) {
      await authorize(this.#policy, caller, 'AddResourceToDataset', { kind: 'dataset', id: goal.dataset })
      await authorize(this.#policy, caller, 'EditFile', { kind: 'file', id })
    }
    if (!(await this.#places.move(id, source, goal, caller.user?.id))) throw new NotFound('file')
  }
}
wire(MoveFiles, Files, FilePlaces, Policy)

const onlyPlace = (places: readonly Place[]): Place => {
  const [only, ...more] = places
  if (!only) throw new Invalid('The file is in no dataset: attach it to one')
  if (more.length > 0) throw new Invalid('The file is in several places: specify the one to move it from as `from`')
  return only
}
