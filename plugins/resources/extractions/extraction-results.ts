import { join } from 'node:path'
import {
  type Contributions,
  type FileRecord,
  Files,
  Installation,
  InTrash,
  type Json,
  Log,
  MetadataDocuments,
  Policy,
  Previews,
  ProgressListeners,
  type Ref,
  type Stored,
  Tags,
  wire,
} from 'pounce/sdk'
import {
  type Heartbeat,
  type JobResult,
  type JobStatus,
  type ProgressListener,
  reportProgress,
  requireUsable,
  type TransportListener,
} from 'pounce/sdk/kit'

import { ExtractorHeartbeats } from './extractor-heartbeats.ts'
import { derivedId } from './job-message.ts'
import { type ExtractionRun, StoredExtractions } from './stored-extractions.ts'
import { TransportRouter } from './transport-router.ts'

/** Listener of the transport: stores the events of runs, and the results of built-in extractors. */
export class ExtractionResults implements TransportListener {
  #transport: TransportRouter
  #extractions: StoredExtractions
  #heartbeats: ExtractorHeartbeats
  #files: Files
  #metadata: MetadataDocuments
  #tags: Tags
  #previews: Previews
  #policy: Policy
  #installation: Installation
  #progress: Contributions<ProgressListener>
  #log: Log

  constructor(
    transport: TransportRouter,
    extractions: StoredExtractions,
    heartbeats: ExtractorHeartbeats,
    files: Files,
    metadata: MetadataDocuments,
    tags: Tags,
    previews: Previews,
    policy: Policy,
    installation: Installation,
    progress: Contributions<ProgressListener>,
    log: Log,
  ) {
    this.#transport = transport
    this.#extractions = extractions
    this.#heartbeats = heartbeats
    this.#files = files
    this.#metadata = metadata
    this.#tags = tags
    this.#previews = previews
    this.#policy = policy
    this.#installation = installation
    this.#progress = progress
    this.#log = log
  }

  async start(): Promise<void> {
    await this.#transport.listen(this)
  }

  async status(status: JobStatus): Promise<'unknown' | undefined> {
    const run = await this.#extractions.addStatus(status)
    if (run) {
      this.#report(run, status.status)
      return undefined
    }
    const { jobId: job, targetId: target, extractor } = status
    this.#log.warn('Status of an unknown extraction dropped', { job, target, extractor })
    return 'unknown'
  }

  /** The end of a run is an event of its own. */
  #report({ id, target, state }: ExtractionRun, message: string): void {
    if (state === 'open' && message !== 'DONE')
      reportProgress(this.#progress, { activity: 'extraction', id, subject: target, actor: null, state: 'running', message })
  }

  heartbeat(heartbeat: Heartbeat): Promise<void> {
    return this.#heartbeats.received(heartbeat)
  }

  async input(target: Ref) {
    const file = await this.#fileOf(target)
    if (file) requireUsable(file)
    return file && { filename: file.name, contentType: file.contentType, sizeBytes: file.sizeBytes, blob: file.blob }
  }

  async result({ job, info, output, outputFolder }: JobResult): Promise<void> {
    const { target } = job
    const run = await this.#extractions.get(job.id)
    // The file may have been deleted or moved to the trash while the extractor was running.
    if (!(await this.#fileOf(target))) return
    const by = { extractor: info.name, ...(run?.user ? { author: run.user } : {}) }
    for (const [at, preview] of (output.previews ?? []).entries()) {
      await this.#previews.addPreview(
        target,
        { ...preview, path: join(outputFolder, preview.path), id: derivedId(job.id, `preview ${at}`) },
        by,
      )
    }
    if (output.thumbnail) {
      const { thumbnail } = output
      await this.#previews.addThumbnail(
        target,
        { ...thumbnail, path: join(outputFolder, thumbnail.path), id: derivedId(job.id, 'thumbnail') },
        by,
      )
    }
    if (output.tags && output.tags.length > 0) await this.#tags.add(target, output.tags, { extractor: info.name })
    if (output.metadata && Object.keys(output.metadata).length > 0) {
      const extractorId = `${this.#installation.baseUrl}/extractors/${info.name}/${info.version}`
      await this.#metadata.add({
        id: derivedId(job.id, 'metadata'),
        target,
        context: info.contexts as Json,
        agent: { kind: 'extractor', name: info.name, extractorId, userId: null },
        content: output.metadata as Json,
        author: run?.user ?? null,
        job: job.id,
      })
    }
  }

  /** Built-in extractors process files only. Throws `InTrash`: nothing is added to a file in the trash. */
  async #fileOf(target: Ref): Promise<(FileRecord & Stored) | undefined> {
    const file = target.kind === 'file' ? await this.#files.get(target.id) : undefined
    if (file && (await this.#policy.isInTrash(target))) throw new InTrash('file')
    return file
  }
}
wire(
  ExtractionResults,
  TransportRouter,
  StoredExtractions,
  ExtractorHeartbeats,
  Files,
  MetadataDocuments,
  Tags,
  Previews,
  Policy,
  Installation,
  ProgressListeners,
  Log,
)
