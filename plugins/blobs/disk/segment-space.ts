import { type FileHandle, open, rename, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from 'pounce/sdk'
import type { SegmentKey } from './blob-key.ts'
import { codeOf, type Disk, readFully, syncPath, writeAll } from './disk.ts'
import type { SegmentFiles } from './segment-files.ts'
import { decodeHeader, encodeHeader, headerBytes, type SegmentRange, states, walkSegment } from './segment-format.ts'
import type { SegmentWriter } from './segment-writer.ts'

interface Parts {
  readonly folder: string
  readonly temporaryFolder: string
  readonly files: SegmentFiles
  readonly writer: SegmentWriter
  readonly disk: Disk
  readonly log: Log
}

interface Use {
  liveEntries: number
  liveBytes: number
  /** Allocated size of the file on the disk. */
  readonly diskBytes: number
  readonly hasDamage: boolean
}

/** Maximum space that an entry occupies beyond its own length when everything around it is a hole: two partly used blocks of 4 KiB. */
const blockSlack = 8192
const worthwhileBytes = 1024 * 1024

/**
 * Removes entries and frees their space: a segment without live entries is deleted, one that is mostly dead is rewritten with
 * holes where its dead entries were. Live entries keep their offsets, so keys stay valid. One change to a segment at a time.
 */
export class SegmentSpace {
  readonly #parts: Parts
  readonly #turns = new Map<string, Promise<void>>()
  readonly #use = new Map<string, Use>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Marks an entry as removed. Absent entries are ignored. */
  async remove(key: SegmentKey): Promise<void> {
    await this.#inTurn(key.segment, async () => {
      if (!(await this.#mark(key))) return
      const use = this.#use.get(key.segment)
      if (use) {
        use.liveEntries -= 1
        use.liveBytes -= headerBytes + key.sizeBytes
      }
      await this.#reclaim(key.segment)
    })
  }

  /** Deletes or compacts a segment if worthwhile, regardless of earlier results. */
  async tidy(segment: string): Promise<void> {
    this.#use.delete(segment)
    await this.#inTurn(segment, () => this.#reclaim(segment))
  }

  /** Resolves when no change is in progress. */
  async dispose(): Promise<void> {
    await Promise.all(this.#turns.values())
  }

  async #inTurn(segment: string, work: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(segment)
    const mine = (before ?? Promise.resolve()).then(work)
    const settled = mine.catch(() => undefined)
    this.#turns.set(segment, settled)
    try {
      await mine
    } finally {
      if (this.#turns.get(segment) === settled) this.#turns.delete(segment)
    }
  }

  async #mark(key: SegmentKey): Promise<boolean> {
    const file = await this.#openToChange(key.segment)
    if (!file) return false
    try {
      const header = Buffer.allocUnsafe(headerBytes)
      const found = decodeHeader(header.subarray(0, await readFully(file, header, key.offset)), key.offset)
      if (found.state !== 'live' || found.sha256 !== key.sha256 || found.sizeBytes !== key.sizeBytes) return false
      await writeAll(this.#parts.disk, file, [states.gone], key.offset)
      return true
    } finally {
      await file.close()
    }
  }

  async #openToChange(segment: string): Promise<FileHandle | undefined> {
    try {
      return await open(this.#parts.files.pathOf(segment), 'r+')
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }

  /** Freeing space is housekeeping: when it fails the entry stays removed, and the next removal tries again. */
  async #reclaim(segment: string): Promise<void> {
    if (this.#parts.writer.isOpen(segment)) return
    try {
      const use = this.#use.get(segment) ?? (await this.#measure(segment))
      if (!use) return
      this.#use.set(segment, use)
      const needed = use.liveBytes + use.liveEntries * blockSlack
      if (use.liveEntries === 0 && !use.hasDamage) await this.#drop(segment)
      else if (use.diskBytes > worthwhileBytes && use.diskBytes > 2 * needed && !use.hasDamage) await this.#shrink(segment)
    } catch (error) {
      this.#parts.log.warn('Failed to reclaim the space of deleted entries', { segment, error })
    }
  }

  async #measure(segment: string): Promise<Use | undefined> {
    const file = await this.#openToChange(segment)
    if (!file) return undefined
    try {
      const { size, blocks } = await file.stat()
      const use = { liveEntries: 0, liveBytes: 0, diskBytes: blocks * 512, hasDamage: false }
      for await (const stretch of walkSegment(file, this.#parts.writer.durableBytes(segment) ?? size)) {
        if (stretch.state === 'damaged') use.hasDamage = true
        if (stretch.state !== 'live') continue
        use.liveEntries += 1
        use.liveBytes += headerBytes + stretch.sizeBytes
      }
      return use
    } finally {
      await file.close()
    }
  }

  async #drop(segment: string): Promise<void> {
    this.#use.delete(segment)
    await unlink(this.#parts.files.pathOf(segment))
    await this.#parts.files.retire(segment)
  }

  async #shrink(segment: string): Promise<void> {
    this.#use.delete(segment)
    const temporary = join(this.#parts.temporaryFolder, `${segment}.segment`)
    const path = this.#parts.files.pathOf(segment)
    try {
      await using source = await open(path, 'r')
      await using target = await open(temporary, 'w')
      await this.#copyLive(source, target, this.#parts.writer.durableBytes(segment) ?? (await source.stat()).size)
      await this.#parts.disk.sync(target)
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
    await syncPath(this.#parts.disk, this.#parts.folder)
    await this.#parts.files.retire(segment)
  }

  /** Adjacent dead entries become one dead entry: a header and a hole. */
  async #copyLive(source: FileHandle, target: FileHandle, end: number): Promise<void> {
    let dead: SegmentRange | undefined
    const endDead = async (at: number): Promise<void> => {
      if (!dead) return
      const header = encodeHeader({ ...dead, sizeBytes: at - dead.offset - headerBytes }, 'gone')
      await writeAll(this.#parts.disk, target, [header], dead.offset)
      dead = undefined
    }
    for await (const stretch of walkSegment(source, end)) {
      if (stretch.state !== 'live') {
        dead ??= stretch
        continue
      }
      await endDead(stretch.offset)
      const bytes = Buffer.allocUnsafe(headerBytes + stretch.sizeBytes)
      await readFully(source, bytes, stretch.offset)
      await writeAll(this.#parts.disk, target, [bytes], stretch.offset)
    }
    await endDead(end)
    await target.truncate(end)
  }
}
