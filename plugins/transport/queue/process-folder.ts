import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, chown, copyFile, link, lstat, mkdir, opendir, realpath, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Log } from 'pounce/sdk'
import { ensureSpaceFor } from './input-file.ts'
import { removeFolder } from './remove-folder.ts'

const maxEntries = 10_000

/** What a run gets in the folder of its process. */
export interface Stage {
  readonly path: string
  readonly outputFolder: string
}

/** The files of one extractor process: `input` to read, `work` to write to. They contain only what its current run needs. */
export class ProcessFolder {
  readonly input: string
  readonly work: string
  readonly #path: string
  readonly #uid: number | undefined

  private constructor(path: string, uid: number | undefined) {
    this.#path = path
    this.#uid = uid
    this.input = join(path, 'input')
    this.work = join(path, 'work')
  }

  /** Creates it. `uid` is the user of the process, when that is not the server's. */
  static async make(path: string, uid?: number): Promise<ProcessFolder> {
    await mkdir(path, { recursive: true, mode: 0o700 })
    const folder = new ProcessFolder(await realpath(path), uid)
    await mkdir(folder.input, { mode: 0o700 })
    await mkdir(folder.work, { mode: 0o700 })
    if (uid !== undefined) {
      // Traversable, not writable: the contents belong to the server.
      await chmod(folder.#path, 0o711)
      await chmod(folder.input, 0o711)
      await chown(folder.work, uid, uid)
    }
    return folder
  }

  /** Makes an input available to the process, under a name of its own. The process creates its output folder. Throws `RunFailure` when there is no space. */
  async stage(source: string, signal: AbortSignal): Promise<Stage> {
    const name = randomUUID()
    const stage: Stage = { path: join(this.input, name), outputFolder: join(this.work, name) }
    if (!(await this.#link(source, stage.path))) await this.#copy(source, stage.path, signal)
    return stage
  }

  /** Removes the input of a run. The process itself cleans up `work`: while it is alive, paths in there may lead anywhere. */
  async unstage({ path }: Stage): Promise<void> {
    await unlink(path)
  }

  /** Total size of the files that the process has written and not deleted, in bytes. */
  async writtenBytes(): Promise<number> {
    let [bytes, entries] = [0, 0]
    for await (const entry of await opendir(this.work, { recursive: true })) {
      // An endless tree also exceeds the limit.
      if (++entries > maxEntries) return Number.POSITIVE_INFINITY
      bytes += (await lstat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0
    }
    return bytes
  }

  /** Called once the process has ended. */
  async remove(log: Log): Promise<void> {
    await removeFolder(this.#path, log)
  }

  /** Another user cannot read the server's files, and must not become their owner. */
  async #link(source: string, path: string): Promise<boolean> {
    if (this.#uid !== undefined) return false
    // Another file system, a file of another user, or a file system without links: fall back to a copy.
    return link(await realpath(source), path).then(
      () => true,
      () => false,
    )
  }

  async #copy(source: string, path: string, signal: AbortSignal): Promise<void> {
    const { size } = await stat(source)
    await ensureSpaceFor(size, this.input)
    if (size < 2 ** 20) await copyFile(source, path)
    else await pipeline(createReadStream(source, { highWaterMark: 2 ** 20 }), createWriteStream(path), { signal })
    if (this.#uid !== undefined) await chown(path, this.#uid, this.#uid)
    await chmod(path, 0o400)
  }
}
