import { Invalid } from 'pounce/sdk'
import type { ReceivedBag } from './received-bag.ts'

const infoEnding = '_info.json'
const metadataEnding = '_metadata.json'
const maxDepth = 100
const maxNameLength = 255

/** A file to be created from a payload file, and the paths in the bag of what describes it. */
export interface BagFile {
  readonly path: string
  /** Folder names, outermost first. */
  readonly folders: readonly string[]
  readonly name: string
  readonly info: string | undefined
  readonly metadata: string | undefined
}

/** The contents of a bag, by path. */
export interface BagContents {
  readonly files: readonly BagFile[]
  /** Paths of all folders of the dataset, parents first. */
  readonly folders: readonly (readonly string[])[]
  readonly info: string | undefined
  readonly metadata: string | undefined
}

const placeOf = (path: string): { readonly folders: readonly string[]; readonly name: string } => {
  const parts = path.split('/').slice(1)
  if (parts.length > maxDepth + 1) throw new Invalid(`${JSON.stringify(path)} is nested deeper than ${maxDepth} folders`)
  const long = parts.find(part => part.length > maxNameLength)
  if (long !== undefined) throw new Invalid(`${JSON.stringify(path)} has a name of more than ${maxNameLength} characters`)
  return { folders: parts.slice(0, -1), name: parts.at(-1) ?? '' }
}

/** All folders on the given paths, each once, parents first. */
const foldersOf = (paths: Iterable<readonly string[]>): readonly (readonly string[])[] => {
  const found = new Map<string, readonly string[]>()
  for (const path of paths) {
    const above: (readonly [string, readonly string[]])[] = []
    // The ancestors of a known folder are known too, so paths are not walked once per file.
    for (let folder = path; folder.length > 0; folder = folder.slice(0, -1)) {
      const key = folder.join('/')
      if (found.has(key)) break
      above.push([key, folder])
    }
    for (const [key, folder] of above.toReversed()) found.set(key, folder)
  }
  return [...found.values()]
}

/**
 * v1 accepts any bag with `metadata/datacite.xml`. A valid bag of another tool that has one is treated as v1's only if it describes a file.
 */
const isOfClowder = (bag: ReceivedBag): boolean =>
  bag.isV1 ||
  ['data/_info.json', 'data/_dataset_metadata.json', 'metadata/clowder.xml'].some(path => bag.has(path)) ||
  (bag.has('metadata/datacite.xml') && bag.payload.some(path => bag.has(path + infoEnding)))

/**
 * Sorts the payload. In bags of Clowder and Pounce `X_info.json` and `X_metadata.json` describe the file X, which must exist; in other bags
 * every file is a plain file.
 */
export const contentsOf = (bag: ReceivedBag): BagContents => {
  const { payload } = bag
  const sidecars = isOfClowder(bag) ? sidecarsIn(bag, payload) : new Set<string>()
  const beside = (path: string): string | undefined => (sidecars.has(path) ? path : undefined)
  const files = payload
    .filter(path => !sidecars.has(path))
    .map(path => ({ path, ...placeOf(path), info: beside(path + infoEnding), metadata: beside(path + metadataEnding) }))
  const named = bag.folders.map(path => placeOf(`${path}/`).folders)
  return {
    files,
    folders: foldersOf([...files.map(({ folders }) => folders), ...named]),
    info: beside(`data/${infoEnding}`),
    metadata: beside('data/_dataset_metadata.json'),
  }
}

const sidecarsIn = (bag: ReceivedBag, payload: readonly string[]): ReadonlySet<string> => {
  const sidecars = new Set<string>()
  for (const path of payload) {
    const isInfo = path.endsWith(infoEnding)
    if (!isInfo && !path.endsWith(metadataEnding)) continue
    const described = path.slice(0, -(isInfo ? infoEnding : metadataEnding).length)
    const isItselfDescribed = bag.has(path + infoEnding)
    if (path === 'data/_dataset_metadata.json' || bag.has(described)) sidecars.add(path)
    // v1 adds one for the dataset, and a bag of a collection has one for each dataset in it.
    else if (isInfo && described.endsWith('/') && !isItselfDescribed) sidecars.add(path)
    else if (isInfo && !isItselfDescribed) throw new Invalid(`Not all files found in archive (${described.slice('data/'.length)} missing)`)
  }
  return sidecars
}
