/** A file, and the folders down to it from where the archive begins. */
export interface Placed {
  readonly id: string
  readonly name: string
  readonly folders: readonly string[]
}

const plainName = /^[^./\\\u0000-\u001f\u007f][^/\\\u0000-\u001f\u007f]*$/

/** A name as a part of a path: it stays in its folder wherever the archive is unpacked. */
const part = (name: string): string => {
  if (plainName.test(name)) return name
  const safe = name.replace(/[/\\\u0000-\u001f\u007f]/g, '_')
  return safe === '' || safe === '.' || safe === '..' ? '_'.repeat(Math.max(1, safe.length)) : safe
}

const withId = (path: string, id: string): string => {
  const slash = path.lastIndexOf('/')
  const dot = path.lastIndexOf('.')
  return dot > slash + 1 ? `${path.slice(0, dot)}_${id}${path.slice(dot)}` : `${path}_${id}`
}

/** The folders of a path and all above them. */
const foldersOf = (paths: Iterable<string>): ReadonlySet<string> => {
  const folders = new Set<string>()
  for (const path of paths) {
    for (let folder = path; folder !== '' && !folders.has(folder); folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
      folders.add(folder)
    }
  }
  return folders
}

/** Paths of folders; the same array, which files of one folder share, is put together once. */
const folderPaths = () => {
  const known = new Map<readonly string[], string>()
  const pathOf = (folders: readonly string[]): string => {
    const path = known.get(folders) ?? folders.map(part).join('/')
    known.set(folders, path)
    return path
  }
  return { pathOf, all: () => foldersOf(known.values()) }
}

/**
 * The path of each file in an archive, in their order: `folder/…/name`. Files of one name in one folder all become `name_<id>.ext`, and so
 * does a file that is named like a folder beside it.
 */
export const archivePaths = (files: readonly Placed[]): readonly string[] => {
  const { pathOf, all } = folderPaths()
  const plain = files.map(file => {
    const folder = pathOf(file.folders)
    return folder === '' ? part(file.name) : `${folder}/${part(file.name)}`
  })
  const folders = all()
  const times = new Map<string, number>()
  for (const path of plain) times.set(path, (times.get(path) ?? 0) + 1)
  const used = new Set(folders)
  for (const [path, count] of times) if (count === 1) used.add(path)
  return files.map(({ id }, at) => {
    const path = plain[at] as string
    if (times.get(path) === 1 && !folders.has(path)) return path
    let named = withId(path, id)
    while (used.has(named)) named = withId(named, id)
    used.add(named)
    return named
  })
}
