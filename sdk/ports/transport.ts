import type { ExtractorInfo } from '../model/extractor-info.ts'
import type { Kind, Ref } from '../model/kind.ts'
import { port } from '../port.ts'
import type { ExtractorOutput } from './extractor.ts'

/** One run that someone asked of one extractor. */
export interface Job {
  /** Unique; publishing one id twice is publishing it once. */
  readonly id: string
  /** The queue, which is the extractor's name (`private.<key>.<name>` for private ones). */
  readonly queue: string
  /** The file or dataset to work on. */
  readonly target: Ref
  /** In whose name it runs; null for nobody's. A distributed transport adds this user's extraction key to the message when it sends it. */
  readonly user: string | null
  /** The message as extractors read it (reference, extraction §2), without its `secretKey`: keys are not kept in jobs. */
  readonly message: Readonly<Record<string, unknown>>
  /** What the submitter asked for. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** A line of news about a job. Repeats and wrong order are possible. */
export interface JobStatus {
  /** Absent from old extractors. */
  readonly jobId?: string
  /** What it is about: a file, dataset, section or collection id. May be unknown here. */
  readonly targetId: string
  /** `ExtractorInfo.name`. */
  readonly extractor: string
  /** In Clowder's words: `StatusMessage.processing: Downloading file.`, `DONE`, `StatusMessage.error: …`. */
  readonly status: string
  readonly at: Date
}

/** What an extractor that the transport runs itself has found. */
export interface JobResult {
  readonly job: Job
  readonly info: ExtractorInfo
  readonly output: ExtractorOutput
  /** The folder that `DerivedFile.path` is relative to; gone once the listener has resolved. */
  readonly outputFolder: string
}

/** An extractor saying it exists. */
export interface Heartbeat {
  readonly queue: string
  /** The raw `extractor_info`, not yet checked. */
  readonly info: unknown
  readonly owner?: string
}

/** What is known of a queue. */
export interface QueueFacts {
  readonly queue: string
  readonly waiting: number
  readonly running: number
  /** How many extractors listen, 0 when none. */
  readonly consumers: number
  /** Jobs put aside after too many failures. */
  readonly dead: number
}

/** Who hears from the transport. A listener that rejects is called again later with the same news. */
export interface TransportListener {
  status(status: JobStatus): Promise<void>
  /** Store the result, then resolve: only then is the job done. Called again after a crash, so be idempotent by `job.id`. */
  result(result: JobResult): Promise<void>
  heartbeat(heartbeat: Heartbeat): Promise<void>
  /** The bytes a built-in extractor works on, as a file, or undefined when the resource is gone (the job then ends as skipped). */
  input(
    target: Ref,
  ): Promise<{ readonly filename: string; readonly contentType: string; readonly sizeBytes: number; readonly blob: string } | undefined>
}

/** Carries jobs to extractors and their news back, at least once each. Jobs survive a crash of any part. */
export interface Transport {
  /** Durable and confirmed when it resolves. At most 1,000. A queue nobody listens to keeps its jobs. */
  publish(jobs: readonly Job[]): Promise<void>
  /** `cancelled`: it will not run (or its run was stopped); `running`: too late; `unknown`: done or never heard of. Other jobs are untouched. */
  cancel(jobId: string): Promise<'cancelled' | 'running' | 'unknown'>
  /** Starts the flow of news, and of runs. One listener; called once, when the listener is ready to serve. */
  listen(listener: TransportListener): Promise<void>
  /** At most 1,000 queues, by name. */
  queues(): Promise<readonly QueueFacts[]>
  /** Jobs not yet done for one target, oldest first, at most 1,000. */
  pending(target: {
    readonly kind: Kind
    readonly id: string
  }): Promise<readonly { readonly job: Job; readonly state: 'waiting' | 'running' | 'dead'; readonly attempts: number }[]>
  /** Puts a dead job back at the end of its queue. False when there is none. */
  revive(jobId: string): Promise<boolean>
  readonly kind: string
}
export const Transport = port<Transport>('transport')
