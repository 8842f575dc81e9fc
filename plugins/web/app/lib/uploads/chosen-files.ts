/** A file to upload, with its path below the folder that it goes to. A handle lets the browser open it again after a reload. */
export interface ChosenFile {
  readonly path: string
  readonly file: File
  readonly handle?: FileSystemFileHandle | undefined
}

/** What was dropped or chosen: files, and folders without files. */
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
 * Files and folders of a drop or of the clipboard. Call it in the event itself: a browser empties the list when the event is over. Folders are read to
 * the last level.
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
    const opened = await handle
    if (opened) await readHandle(opened, opened.name, found)
    else if (entry) await readEntry(entry, entry.name, found)
    else if (file) found.files.push({ path: file.name, file })
  }
  return found
}

/** Chooses a folder with handles where the browser has them; undefined where it has not. Null when the person changed their mind. */
export const chooseFolder = async (): Promise<Chosen | null | undefined> => {
  const picker = (window as { showDirectoryPicker?: () => Promise<FileSystemDirectoryHandle> }).showDirectoryPicker
  if (!picker) return undefined
  const found: Found = { files: [], emptyFolders: [], unreadable: [] }
  try {
    const folder = await picker.call(window)
    await readHandle(folder, folder.name, found)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null
    throw error
  }
  return found
}

const readHandle = async (handle: FileSystemHandle, path: string, found: Found): Promise<void> => {
  if (handle.kind === 'file') {
    try {
      const one = handle as FileSystemFileHandle
      found.files.push({ path, file: await one.getFile(), handle: one })
    } catch {
      found.unreadable.push(path)
    }
    return
  }
  let isEmpty = true
  for await (const child of (handle as FileSystemDirectoryHandle & { values(): AsyncIterable<FileSystemHandle> }).values()) {
    isEmpty = false
    await readHandle(child, `${path}/${child.name}`, found)
  }
  if (isEmpty) found.emptyFolders.push(path)
}

const readEntry = async (entry: FileSystemEntry, path: string, found: Found): Promise<void> => {
  if (entry.isFile) {
    try {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
      found.files.push({ path, file })
    } catch {
      found.unreadable.push(path)
    }
    return
  }
  const children = await entriesOf(entry as FileSystemDirectoryEntry)
  if (children.length === 0) found.emptyFolders.push(path)
  for (const child of children) await readEntry(child, `${path}/${child.name}`, found)
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
