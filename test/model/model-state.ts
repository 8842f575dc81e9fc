import type { Collection, Dataset, File, Folder, Place, Space } from './model-rights.ts'

/** All resources, including deleted ones, in order of creation, with the cascades between them. */
export class State {
  readonly spaces: Space[] = []
  readonly collections: Collection[] = []
  readonly datasets: Dataset[] = []
  readonly folders: Folder[] = []
  readonly files: File[] = []

  /** The totals of `GET /api/status`: without trashed resources, but including the files of trashed datasets, whose bytes are still stored. */
  counts(): Readonly<Record<'spaces' | 'collections' | 'datasets' | 'files' | 'bytes', number>> {
    const files = this.files.filter(file => !file.isGone)
    return {
      spaces: this.spaces.filter(space => !space.isGone).length,
      collections: this.collections.filter(one => !one.isGone && !one.isTrashed).length,
      datasets: this.datasets.filter(dataset => !dataset.isGone && !dataset.isTrashed).length,
      files: files.length,
      bytes: files.reduce((sum, { content }) => sum + content.length, 0),
    }
  }

  childrenOf(parent: Collection): readonly Collection[] {
    return this.collections.filter(one => !one.isGone && one.parents.has(parent))
  }

  isBelow(one: Collection, above: Collection): boolean {
    return one === above || [...one.parents].some(parent => this.isBelow(parent, above))
  }

  /** Adds the collection to a space, with the descendants of the same owner. */
  enterSpace(one: Collection, space: Space, asRoot: boolean): void {
    if (asRoot) one.rootSpaces.add(space)
    if (one.spaces.has(space)) return
    one.spaces.add(space)
    for (const child of this.childrenOf(one)) if (child.author === one.author) this.enterSpace(child, space, false)
  }

  /** Removes the collection, and descendants that are in the space only through it. */
  leaveSpace(one: Collection, space: Space): void {
    one.rootSpaces.delete(space)
    if (!one.spaces.delete(space)) return
    for (const child of this.childrenOf(one)) {
      const isHeld = child.rootSpaces.has(space) || [...child.parents].some(parent => parent.spaces.has(space))
      if (!isHeld) this.leaveSpace(child, space)
    }
  }

  addChild(parent: Collection, child: Collection): void {
    child.parents.add(parent)
    for (const space of parent.spaces) this.enterSpace(child, space, false)
  }

  /** The child stays in its spaces, at the top level of those that contain no parent of it. */
  removeChild(parent: Collection, child: Collection): void {
    if (!child.parents.delete(parent)) return
    for (const space of child.spaces) if (![...child.parents].some(one => one.spaces.has(space))) child.rootSpaces.add(space)
  }

  removeCollection(one: Collection): void {
    one.isGone = true
    for (const child of this.collections) this.removeChild(one, child)
    for (const dataset of this.datasets) dataset.collections.delete(one)
  }

  removeSpace(space: Space): void {
    space.isGone = true
    space.members.clear()
    for (const dataset of this.datasets) dataset.spaces.delete(space)
    for (const one of this.collections) {
      one.rootSpaces.delete(space)
      one.spaces.delete(space)
    }
  }

  /** Also removes files that are in no other dataset. */
  removeDataset(dataset: Dataset): void {
    dataset.isGone = true
    for (const folder of this.folders) if (folder.dataset === dataset) folder.isGone = true
    this.#leave(place => place.dataset === dataset)
  }

  removeFolder(folder: Folder): void {
    folder.isGone = true
    this.#leave(place => place.folder === folder)
    for (const child of this.folders) if (child.parent === folder && !child.isGone) this.removeFolder(child)
  }

  isInside(folder: Folder | undefined, outer: Folder): boolean {
    return folder !== undefined && (folder === outer || this.isInside(folder.parent, outer))
  }

  /** Moves a folder with its contents. */
  moveFolder(folder: Folder, dataset: Dataset, parent: Folder | undefined): void {
    folder.parent = parent
    const moved = this.folders.filter(each => !each.isGone && this.isInside(each, folder))
    for (const each of moved) each.dataset = dataset
    for (const file of this.files)
      file.places = file.places.map(place => (place.folder && moved.includes(place.folder) ? { ...place, dataset } : place))
  }

  #leave(fits: (place: Place) => boolean): void {
    for (const file of this.files) {
      if (file.isGone || !file.places.some(fits)) continue
      file.places = file.places.filter(place => !fits(place))
      if (file.places.length === 0) file.isGone = true
    }
  }
}

/** Names of the folders on the path to a folder. */
export const pathOf = (folder: Folder | undefined): readonly string[] =>
  folder === undefined ? [] : [...pathOf(folder.parent), folder.name]
