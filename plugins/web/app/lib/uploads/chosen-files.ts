/** A file to upload, with its path below the target folder. A handle lets the browser reopen it after a reload. */
export interface ChosenFile {
  readonly path: string
  readonly file: File
  readonly handle?: FileSystemFileHandle | undefined
}

/** What was dropped or selected: files, and folders without files. */
export interface Chosen {
  readonly files: readonly ChosenFile[]
  readonly emptyFolders: readonly string[]
  /** Paths that the browser could not read. */
  readonly unreadable: readonly string[]
}

interface Found {
  readonly files: ChosenFile[]
  readonly emptyFolders: string[]
  readonly unreadable: string[]
}

/** Files of an `<input type=file>`; with `webkitdirectory` they have paths. */
export const chosenInInput = (list: Iterable<File>): Chosen => ({
  files: [...list].map(file => ({ path: file.webkitRelativePath || file.name, file })),
  emptyFolders: [],
  unreadable: [],
})

interface ItemWithHandle {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>
}

/**
 * Files and folders of a drop or of the clipboard. Call it in the event handler: the browser empties the list when the event is over. Folders are read
 * recursively. They are listed by their entries: Chromium has no handles for files whose names Windows does not allow, such as `10:30.csv`.
 */
export const chosenInTransfer = async (transfer: DataTransfer): Promise<Chosen> => {
  const items = [...transfer.items].filter(item => item.kind === 'file')
  const started = items.map(item => ({
    handle: (item as ItemWithHandle).getAsFileSystemHandle?.().catch(() => null),
    entry: item.webkitGetAsEntry(),
    file: item.getAsFile(),
  }))
  const found: Found = { files: [], emptyFolders: [], unreadable: [] }
  for (const { handle, entry, file } of started) {
    if (entry) await readEntry(entry, (await handle) ?? undefined, entry.name, found)
    else if (file) found.files.push({ path: file.name, file })
  }
  return found
}

const readEntry = async (entry: FileSystemEntry, handle: FileSystemHandle | undefined, path: string, found: Found): Promise<void> => {
  if (entry.isFile) {
    try {
      const one = handle?.kind === 'file' ? (handle as FileSystemFileHandle) : undefined
      found.files.push({ path, file: await (one?.getFile() ?? fileOf(entry as FileSystemFileEntry)), handle: one })
    } catch {
      found.unreadable.push(path)
    }
    return
  }
  const children = await entriesOf(entry as FileSystemDirectoryEntry).catch(() => undefined)
  if (!children) {
    found.unreadable.push(path)
    return
  }
  const handles = await handlesIn(handle).catch(() => noHandles)
  if (children.length === 0) found.emptyFolders.push(path)
  for (const child of children) await readEntry(child, handles.get(child.name), `${path}/${child.name}`, found)
}

const noHandles: ReadonlyMap<string, FileSystemHandle> = new Map()

const fileOf = async (entry: FileSystemFileEntry): Promise<File> => new Promise((resolve, reject) => entry.file(resolve, reject))

/** The browser's handles of a folder's contents, by name. */
const handlesIn = async (folder: FileSystemHandle | undefined): Promise<ReadonlyMap<string, FileSystemHandle>> => {
  const handles = new Map<string, FileSystemHandle>()
  if (folder?.kind !== 'directory') return handles
  const children = (folder as FileSystemDirectoryHandle & { values(): AsyncIterable<FileSystemHandle> }).values()
  for await (const child of children) handles.set(child.name, child)
  return handles
}

/** A browser returns a hundred at a time. */
const entriesOf = async (folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> => {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const some = await new Promise<readonly FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return all
    all.push(...some)
  }
}
