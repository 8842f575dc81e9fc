import {
  authorize,
  BlobStore,
  type Bytes,
  type Caller,
  Clock,
  CommitConflict,
  type Contributions,
  type EventSink,
  EventSinks,
  event,
  type FileRecord,
  Files,
  Log,
  NotFound,
  ne,
  Policy,
  type Stored,
  wire,
} from 'pounce/sdk'
import { allowsDownload, countedBytes, DownloadCounts, isUsable, Quarantined, requireUsable } from 'pounce/sdk/kit'
import { FileDamage } from './file-damage.ts'
import type { BytesPlace } from './file-json.ts'

type File = FileRecord & Stored

/** Long enough to follow the redirect and to resume an interrupted download. */
const addressLifeMs = 15 * 60 * 1000

/** Returns the bytes of files and counts downloads. */
export class FileDownloads {
  #blobs: BlobStore
  #files: Files
  #clock: Clock
  #policy: Policy
  #sinks: Contributions<EventSink>
  #log: Log
  #damage: FileDamage
  #counts: DownloadCounts

  constructor(blobs: BlobStore, files: Files, clock: Clock, policy: Policy, sinks: Contributions<EventSink>, log: Log, damage: FileDamage) {
    this.#blobs = blobs
    this.#files = files
    this.#clock = clock
    this.#policy = policy
    this.#sinks = sinks
    this.#log = log
    this.#damage = damage
    this.#counts = new DownloadCounts(files, clock, log)
  }

  dispose(): Promise<void> {
    return this.#counts.dispose()
  }

  bytesOf(file: File): Bytes {
    return {
      open: async range => {
        const stream = await this.#damage.open(file.blob, () => this.#blobs.get(file.blob, range))
        if (!stream) throw new NotFound('file', { cause: new Error(`the bytes ${file.blob} of file ${file.id} are missing`) })
        return stream
      },
      sizeBytes: file.sizeBytes,
      contentType: file.contentType,
      filename: file.name,
      sha256: file.sha256,
      lastModified: new Date(file.created),
      subject: { kind: 'file', id: file.id },
      elsewhere: async () => {
        const { name: filename, contentType, sizeBytes } = file
        return this.#blobs.temporaryUrl?.(file.blob, { filename, contentType, sizeBytes, expiresInMs: addressLifeMs })
      },
    }
  }

  /** The bytes of a file. Once sent, they are counted as a download by the user, or as anonymous. */
  countedBytesOf(file: File, user: string | undefined, isTracked = true): Bytes {
    return countedBytes(this.bytesOf(file), ({ isWhole }) => this.#count(file, user, { isTracked, isWhole }))
  }

  /** An untracked download does not change the file: it emits an event only while an event sink is loaded. */
  #count(file: File, user: string | undefined, { isTracked, isWhole }: { readonly isTracked: boolean; readonly isWhole: boolean }): void {
    if (!isTracked && (!isWhole || this.#sinks.all().length === 0)) return
    const { id, sizeBytes } = file
    this.#counts.add(event('file.downloaded', { kind: 'file', id }, { sizeBytes, isTracked, isWhole }, user), isTracked)
  }

  /**
   * Resolves when the downloads sent so far are counted, so that a client that downloads a file and then reads its count finds it included.
   */
  counted(id: string): Promise<void> {
    return this.#counts.counted(id)
  }

  /** Notifies the admins, once a day, of attempts to download an archived file. The download itself continues while the bytes exist. */
  wantArchived({ id, status }: File, user: string | undefined): void {
    if (status !== 'ARCHIVED') return
    const wantedOn = this.#clock.now().toISOString().slice(0, 10)
    const wanted = event('file.wanted-from-archive', { kind: 'file', id }, {}, user)
    this.#files.change(id, { where: ne('wantedOn', wantedOn), set: { wantedOn } }, [wanted]).catch((error: unknown) => {
      if (error instanceof CommitConflict) return
      this.#log.warn('Failed to notify admins of a request for an archived file', { file: id, error })
    })
  }

  /** Whether a caller who may view a file may download it, by right or by its license, and whether its bytes may be downloaded at all. */
  async authorize(file: File, caller: Caller): Promise<void> {
    if (!allowsDownload(file.license)) {
      await authorize(this.#policy, caller, 'DownloadFiles', { kind: 'file', id: file.id })
    }
    requireUsable(file)
  }

  /** Like `authorize`, for holders of a link, who may be unable to view the file: the malware signature is not shown to them. */
  requireUsable(file: File): void {
    if (file.scan?.state === 'infected') throw new Quarantined(file.name, undefined)
    requireUsable(file)
  }

  /** When the stored bytes were found to be damaged; undefined if they are not known to be. */
  damagedSince({ id }: File): Promise<string | undefined> {
    return this.#damage.since(id)
  }

  /** The storage location of the bytes, if they can be read there. */
  async placeOf(file: File): Promise<BytesPlace> {
    if (!isUsable(file)) return {}
    const [filepath, object] = await Promise.all([this.pathOf(file), this.#blobs.objectAddress?.(file.blob)])
    return {
      ...(filepath === undefined ? {} : { filepath }),
      ...(object ? { 'service-endpoint': object.endpoint, 'bucket-name': object.bucket, 'object-key': object.key } : {}),
    }
  }

  /** The path of a file registered in place. Bytes in the blob store have no stable path: many small ones share a file. */
  async pathOf(file: File): Promise<string | undefined> {
    return isUsable(file) && this.#blobs.liesElsewhere?.(file.blob) ? this.#blobs.localPath?.(file.blob) : undefined
  }
}
wire(FileDownloads, BlobStore, Files, Clock, Policy, EventSinks, Log, FileDamage)
