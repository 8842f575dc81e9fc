import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { CorruptContent, configPort, Invalid, s, wire } from 'pounce/sdk'

export const config = s.Object({
  folders: s.Array(s.String({ minLength: 1, pattern: '^/' }), {
    default: [],
    description:
      'Folders of this machine whose files may be registered in place by path (`filesystem.sourcepaths` in Clowder 1.x). Absolute paths; anyone who may upload can then read every regular file in them',
  }),
})
const Config = configPort(config)

const refusal = (cause?: unknown): Invalid => new Invalid('No regular file with this path in a folder of blobs.in-place.folders', { cause })

/** Opening must neither follow a link at the end nor block on a pipe. */
const openingFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

const isInside = (path: string, folder: string): boolean => {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** An open file, with its real path. */
export interface OpenFile {
  readonly path: string
  readonly handle: FileHandle
}

/** The folders listed in the configuration. */
export class ListedFolders {
  readonly #folders: readonly string[]

  constructor({ folders }: s.Static<typeof config>) {
    this.#folders = folders
  }

  /** Opens a regular file inside one of the folders. All refusals have the same message, so that it reveals nothing about other folders. */
  async open(path: string): Promise<OpenFile> {
    if (!isAbsolute(path) || path.includes('\0')) throw refusal()
    const real = await this.#allowed(path)
    const handle = await open(real, openingFlags).catch((cause: unknown) => {
      throw refusal(cause)
    })
    try {
      const [stats, again] = await Promise.all([handle.stat(), this.#allowed(real)])
      // A parent folder may have been replaced by a link since.
      if (!stats.isFile() || again !== real) throw refusal()
      return { path: real, handle }
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Opens a registered file; throws `CorruptContent` when it no longer exists, or its folder is not listed. */
  async reopen(path: string): Promise<OpenFile> {
    try {
      const file = await this.open(path)
      if (file.path === path) return file
      await file.handle.close()
    } catch (cause) {
      throw new CorruptContent('The registered file is missing', { cause })
    }
    throw new CorruptContent('The registered file is missing')
  }

  async #allowed(path: string): Promise<string> {
    if (this.#folders.length === 0) throw refusal()
    const real = await realpath(path).catch((cause: unknown) => {
      throw refusal(cause)
    })
    for (const folder of this.#folders) {
      // A folder that does not exist (an unmounted disk) contains nothing.
      const root = await realpath(folder).catch(() => undefined)
      if (root !== undefined && isInside(real, root)) return real
    }
    throw refusal()
  }
}
wire(ListedFolders, Config)
