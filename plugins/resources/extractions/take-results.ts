import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  Files,
  type Heartbeat,
  Installation,
  type JobResult,
  type JobStatus,
  type Json,
  Log,
  MetadataDocuments,
  Previews,
  type Ref,
  Tags,
  type TransportListener,
  wire,
} from 'pounce/sdk'
import { AllTransports, type Carriers } from './carriers.ts'
import { readExtractorInfo } from './extractor-json.ts'
import { Extractions, type StoredExtractions } from './stored-extractions.ts'
import { KnownExtractors, type StoredExtractors } from './stored-extractors.ts'

/** The id of the n-th thing that a run made: the same at every try, so that a repeat makes nothing new. */
const madeBy = (job: string, what: string): string => createHash('sha256').update(`${job}/${what}`).digest('hex').slice(0, 24)

/** Hears from the transport: keeps the news of runs, and what Pounce's own extractors found. */
export class TakeResults implements TransportListener {
  #transport: Carriers
  #extractions: StoredExtractions
  #extractors: StoredExtractors
  #files: Files
  #metadata: MetadataDocuments
  #tags: Tags
  #previews: Previews
  #installation: Installation
  #log: Log

  constructor(
    transport: Carriers,
    extractions: StoredExtractions,
    extractors: StoredExtractors,
    files: Files,
    metadata: MetadataDocuments,
    tags: Tags,
    previews: Previews,
    installation: Installation,
    log: Log,
  ) {
    this.#transport = transport
    this.#extractions = extractions
    this.#extractors = extractors
    this.#files = files
    this.#metadata = metadata
    this.#tags = tags
    this.#previews = previews
    this.#installation = installation
    this.#log = log
  }

  async start(): Promise<void> {
    await this.#transport.listen(this)
  }

  status(status: JobStatus): Promise<void> {
    return this.#extractions.heard(status)
  }

  async heartbeat({ info, isBuiltIn }: Heartbeat): Promise<void> {
    try {
      await this.#extractors.register(readExtractorInfo(info), { user: undefined, isAdmin: false, isBuiltIn })
    } catch (error) {
      this.#log.warn('an extractor introduced itself wrongly and was not registered', { error })
    }
  }

  async input(target: Ref) {
    const file = target.kind === 'file' ? await this.#files.get(target.id) : undefined
    return file && { filename: file.name, contentType: file.contentType, sizeBytes: file.sizeBytes, blob: file.blob }
  }

  async result({ job, info, output, outputFolder }: JobResult): Promise<void> {
    const { target } = job
    const run = await this.#extractions.get(job.id)
    // the file may have gone while the extractor looked at it
    if (target.kind !== 'file' || !(await this.#files.get(target.id))) return
    const by = { extractor: info.name, ...(run?.user ? { author: run.user } : {}) }
    for (const [at, preview] of (output.previews ?? []).entries()) {
      await this.#previews.addPreview(
        target,
        { ...preview, path: join(outputFolder, preview.path), id: madeBy(job.id, `preview ${at}`) },
        by,
      )
    }
    if (output.thumbnail) {
      const { thumbnail } = output
      await this.#previews.addThumbnail(
        target,
        { ...thumbnail, path: join(outputFolder, thumbnail.path), id: madeBy(job.id, 'thumbnail') },
        by,
      )
    }
    if (output.tags && output.tags.length > 0) await this.#tags.add(target, output.tags, { extractor: info.name })
    if (output.metadata && Object.keys(output.metadata).length > 0) {
      const extractorId = `${this.#installation.baseUrl}/extractors/${info.name}/${info.version}`
      await this.#metadata.add({
        id: madeBy(job.id, 'metadata'),
        target,
        context: info.contexts as Json,
        agent: { kind: 'extractor', name: info.name, extractorId, userId: null },
        content: output.metadata as Json,
        author: run?.user ?? null,
      })
    }
  }
}
wire(TakeResults, AllTransports, Extractions, KnownExtractors, Files, MetadataDocuments, Tags, Previews, Installation, Log)
