import { type Caller, Fetch, FileIngest, type FileRecord, Invalid, Problem, type Stored, type s, Unreachable, wire } from 'pounce/sdk'
import type { IncomingFile, IngestOptions, IngestTarget } from 'pounce/sdk/kit'
import { metadataFrom } from './sent-metadata.ts'
import { Config, type config } from './stored-files.ts'

type File = FileRecord & Stored

/** A remote file, as named by the client. */
export interface UrlSource {
  readonly fileurl?: string
  readonly weburl?: string
  readonly url?: string
  /** Path on a disk of the server. */
  readonly path?: string
  readonly md?: unknown
  readonly metadata?: unknown
}

/** The outcome for a source. */
export type UrlOutcome = { readonly file: File } | { readonly url: string; readonly problem: Problem }

const allOfItMs = 24 * 60 * 60 * 1000
const silenceMs = 60_000
const sourceContext = { source: 'http://purl.org/dc/terms/source' }

/** Creates files from URLs. Each is independent: one that cannot be fetched does not affect the others. */
export class UrlUpload {
  #maxBytes: number
  #fetch: Fetch
  #ingest: FileIngest

  constructor({ maxUrlBytes }: s.Static<typeof config>, fetch: Fetch, ingest: FileIngest) {
    this.#maxBytes = maxUrlBytes
    this.#fetch = fetch
    this.#ingest = ingest
  }

  /** One outcome per non-empty source, in order. Throws `Invalid` for a faulty request, and then fetches nothing. */
  async take(sources: readonly UrlSource[], caller: Caller, options: IngestOptions, signal: AbortSignal): Promise<readonly UrlOutcome[]> {
    await this.#ingest.admit(caller, options, undefined, { isAuthorized: true })
    const sourcesWithPath = sources.flatMap(source => {
      const url = source.fileurl ?? source.weburl ?? source.url
      const sent = source.md ?? source.metadata
      // As in v1, an empty entry is skipped.
      if (url === undefined && source.path === undefined) return []
      return [{ url, path: source.path ?? '', sent: sent === undefined ? [] : [metadataFrom(sent, 'md')] }]
    })
    if (sourcesWithPath.length === 0) throw new Invalid('No files uploaded: give a URL in fileurl')
    const outcomes: UrlOutcome[] = []
    for (const { url, path, sent } of sourcesWithPath) {
      try {
        const incoming =
          url === undefined ? await this.#ingest.receiveInPlace(path, signal) : await this.#load(url, caller, options, signal)
        await using blob = incoming.blob
        const metadata = [...(url === undefined ? [] : [{ context: sourceContext, content: { source: url } }]), ...sent]
        const [file] = await this.#ingest.record([{ ...incoming, blob, metadata }], caller, options)
        if (file) outcomes.push({ file })
      } catch (error) {
        if (!(error instanceof Problem) || signal.aborted) throw error
        outcomes.push({ url: url ?? path, problem: error })
      }
    }
    return outcomes
  }

  async #load(url: string, caller: Caller, target: IngestTarget, signal: AbortSignal): Promise<IncomingFile> {
    if (!URL.canParse(url) || !/^https?:/i.test(url)) throw new Invalid('fileurl must be an http or https URL')
    const answer = await this.#fetch.get(url, { maxBytes: this.#maxBytes, timeoutMs: allOfItMs, silenceMs, signal })
    const { body, contentType, disposition, sizeBytes = 1 } = answer
    try {
      if (answer.status !== 200) throw new Unreachable(`The URL answered ${answer.status} instead of a file`)
      const name = this.#ingest.nameOf(nameFrom([url, answer.url], disposition))
      await this.#ingest.admit(caller, target, { bytes: sizeBytes, files: 1 }, { isAuthorized: true })
      return { name, contentType, blob: await this.#ingest.receive(body, { signal }) }
    } catch (error) {
      body.destroy()
      throw error
    }
  }
}
wire(UrlUpload, Config, Fetch, FileIngest)

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not an encoded text: the name is used unchanged.
    return text
  }
}

/** A valid file name derived from a text; empty if there is none. */
const tamed = (text: string): string => {
  const plain = Array.from(text.toWellFormed().normalize('NFC'), each => (/[\p{Cc}/\\]/u.test(each) ? '_' : each))
    .join('')
    .slice(0, 255)
    .toWellFormed()
    .trim()
  return plain === '.' || plain === '..' ? '' : plain
}

const lastSegment = (url: string): string => tamed(decoded(new URL(url).pathname.split('/').findLast(part => part !== '') ?? ''))

/** The name in a Content-Disposition header, in its plain or encoded form (RFC 6266), if it is valid unchanged. */
const disposed = (disposition: string | undefined): string => {
  const [, encoded] = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition ?? '') ?? []
  const [, quoted, plain] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(disposition ?? '') ?? []
  const name = encoded === undefined ? (quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain ?? '') : decoded(encoded)
  return tamed(name) === name ? name : ''
}

/** The name for a fetched file: from the response, otherwise the last part of the first URL that has one. */
export const nameFrom = (urls: readonly string[], disposition: string | undefined): string =>
  disposed(disposition) || urls.map(lastSegment).find(name => name !== '') || 'download'
