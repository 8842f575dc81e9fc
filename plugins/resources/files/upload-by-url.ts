import type { Readable } from 'node:stream'
import {
  BlobStore,
  type Caller,
  type Contributions,
  Fetch,
  FileIntake,
  type FileRecord,
  type IncomingFile,
  InPlaceFiles,
  type IntakeTarget,
  Invalid,
  Log,
  Problem,
  requirePlaced,
  type Stored,
  type s,
  Unreachable,
  wire,
} from 'pounce/sdk'
import { metadataFrom } from './sent-metadata.ts'
import { Config, type config } from './stored-files.ts'
import { fileInPlace } from './upload-in-place.ts'
import { nameFrom } from './upload-url-name.ts'

type File = FileRecord & Stored

/** A file that lies elsewhere, as a client names it. */
export interface Source {
  readonly fileurl?: string
  readonly weburl?: string
  readonly url?: string
  /** On the server's own disks. */
  readonly path?: string
  readonly md?: unknown
  readonly metadata?: unknown
}

/** What became of a source. */
export type Outcome = { readonly file: File } | { readonly url: string; readonly problem: Problem }

const allOfItMs = 24 * 60 * 60 * 1000
const silenceMs = 60_000
const sourceContext = { source: 'http://purl.org/dc/terms/source' }

/** Makes files of what lies at addresses. Each is a file by itself: one that cannot be had does not take the others away. */
export class UrlUpload {
  #maxBytes: number
  #fetch: Fetch
  #blobs: BlobStore
  #intake: FileIntake
  #inPlace: Contributions<InPlaceFiles>
  #log: Log

  constructor(
    { maxUrlBytes }: s.Static<typeof config>,
    fetch: Fetch,
    blobs: BlobStore,
    intake: FileIntake,
    inPlace: Contributions<InPlaceFiles>,
    log: Log,
  ) {
    this.#maxBytes = maxUrlBytes
    this.#fetch = fetch
    this.#blobs = blobs
    this.#intake = intake
    this.#inPlace = inPlace
    this.#log = log
  }

  /** One outcome for each source that names something, in their order. What is wrong with the request itself is `Invalid`, and nothing is fetched. */
  async take(
    sources: readonly Source[],
    caller: Caller,
    target: IntakeTarget & { readonly extract: boolean },
    signal: AbortSignal,
  ): Promise<readonly Outcome[]> {
    requirePlaced(caller, target.dataset !== undefined)
    await this.#intake.requirePlace(target)
    const asked = sources.flatMap(source => {
      const url = source.fileurl ?? source.weburl ?? source.url
      const sent = source.md ?? source.metadata
      // v1: an entry that names nothing is passed over.
      if (url === undefined && source.path === undefined) return []
      return [{ url, path: source.path ?? '', sent: sent === undefined ? [] : [metadataFrom(sent, 'md')] }]
    })
    if (asked.length === 0) throw new Invalid('No files uploaded: give a URL in fileurl')
    const outcomes: Outcome[] = []
    for (const { url, path, sent } of asked) {
      try {
        const incoming =
          url === undefined ? await fileInPlace(this.#inPlace, this.#intake, path, signal) : await this.#load(url, caller, target, signal)
        const metadata = [...(url === undefined ? [] : [{ context: sourceContext, content: { source: url } }]), ...sent]
        await this.#requireStill(incoming, caller, target)
        const [file] = await this.#intake.admit([{ ...incoming, metadata }], caller, target)
        if (file) outcomes.push({ file })
      } catch (error) {
        if (!(error instanceof Problem) || signal.aborted) throw error
        outcomes.push({ url: url ?? path, problem: error })
      }
    }
    return outcomes
  }

  async #load(url: string, caller: Caller, target: IntakeTarget, signal: AbortSignal): Promise<IncomingFile> {
    if (!URL.canParse(url) || !/^https?:/i.test(url)) throw new Invalid('fileurl must be an http or https URL')
    const answer = await this.#fetch.get(url, { maxBytes: this.#maxBytes, timeoutMs: allOfItMs, silenceMs })
    const { body, contentType } = answer
    if (answer.status !== 200) {
      body.destroy()
      throw new Unreachable(`The URL answered ${answer.status} instead of a file`)
    }
    const name = this.#nameFor([url, answer.url], answer)
    await this.#requireRoom(answer, caller, target)
    return { name, contentType, bytes: await this.#blobs.put(body, { signal }) }
  }

  #nameFor(urls: readonly string[], { body, disposition }: { readonly body: Readable; readonly disposition?: string }): string {
    try {
      return this.#intake.nameOf(nameFrom(urls, disposition))
    } catch (error) {
      body.destroy()
      throw error
    }
  }

  async #requireRoom(
    { body, sizeBytes = 1 }: { readonly body: Readable; readonly sizeBytes?: number },
    caller: Caller,
    target: IntakeTarget,
  ) {
    try {
      await this.#intake.requireRoom(caller, target, { bytes: sizeBytes, files: 1 })
    } catch (error) {
      body.destroy()
      throw error
    }
  }

  /** Fetching may have taken hours, in which rights and datasets can go. */
  async #requireStill({ bytes }: IncomingFile, caller: Caller, target: IntakeTarget): Promise<void> {
    try {
      await this.#intake.requireTarget(caller, target)
    } catch (error) {
      await this.#blobs.remove(bytes.key).catch((cause: unknown) => {
        this.#log.warn('failed to delete the bytes of a rejected upload; the next sweep will', { blob: bytes.key, error: cause })
      })
      throw error
    }
  }
}
wire(UrlUpload, Config, Fetch, BlobStore, FileIntake, InPlaceFiles, Log)
