import type { ExtractorInfo } from '../model/extractor-info.ts'
import type { Kind, Ref } from '../model/kind.ts'
import { contributions } from '../port.ts'
import type { ExtractorOutput } from './extractor.ts'

/** One requested run of one extractor. */
export interface Job {
  /** Unique; publishing one id twice is publishing it once. */
  readonly id: string
  /** The queue, which is the extractor's name (`private.<key>.<name>` for private ones). */
  readonly queue: string
  /** The file or dataset to work on. */
  readonly target: Ref
  /** In whose name it runs; null for no one's. A distributed transport adds the job's key (`Keys.jobKey`) to the message when it sends it. */
  readonly user: string | null
  /**
   * The message as extractors read it (reference, extraction §2), without its `secretKey`: keys are not kept in jobs. Its `jobid` (which
   * replies name) and `msgid` are `id`, so that replies and waiting messages are matched with their job.
   */
  readonly message: Readonly<Record<string, unknown>>
  /** What the submitter requested. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** A status message of a job. May be repeated and out of order. */
export interface JobStatus {
  /** Absent from old extractors. */
  readonly jobId?: string
  /** What it is about: a file, dataset, section or collection id. May be unknown here. */
  readonly targetId: string
  /** `ExtractorInfo.name`. */
  readonly extractor: string
  /** In Clowder's words: `StatusMessage.processing: Downloading file.`, `DONE`, `StatusMessage.error: …`. */
  readonly status: string
  /** When the extractor says it was. */
  readonly at: Date
  /** An id that old clients send along; most send none. */
  readonly user?: string
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
  /** E-mail of the account that a private extractor belongs to. */
  readonly owner?: string
  /** The transport runs it itself: it is part of this installation and enabled from the start. */
  readonly isBuiltIn: boolean
}

/** What is known of a queue. */
export interface QueueFacts {
  readonly queue: string
  readonly waiting: number
  readonly running: number
  /** How many extractors listen, 0 when none. */
  readonly consumers: number
  /** Jobs dead-lettered after too many failures. */
  readonly dead: number
}

/** Receives messages of the transport. A listener that rejects is called again later with the same message. */
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

/** Who listens to a queue of a bus, and from where. */
export interface BusListener {
  readonly queue: string
  readonly address: string
  readonly count: number
}

/** Facts that only a bus shared with outside extractors has. Each result is at most five minutes old. */
export interface Bus {
  /** Queues bound to the exchange in a way that takes this routing key (reference, extraction §1.4, legacy). None while the broker is unavailable. */
  boundTo(routingKey: string): Promise<readonly string[]>
  /** At most 1,000, by queue. */
  listeners(): Promise<readonly BusListener[]>
  /** Third fragments of the binding keys, each once, by name: `image`, `text`. */
  inputTypes(): Promise<readonly string[]>
}

/**
 * Sends jobs to extractors and returns their status messages, at least once each. Jobs survive a crash of any part. Several may run together:
 * a job goes to the one that `runs` its queue, else to the first that has a `bus`, else to the first.
 */
export interface Transport {
  /** Queues whose extractors this transport runs itself; none for a bus. */
  runs(): ReadonlySet<string>
  /** Capability `bus`: outside extractors listen here. */
  readonly bus?: Bus
  /**
   * Durable when it resolves, whether or not the broker is there; then sent at once. At most 1,000. A queue that exists keeps its jobs while no one listens;
   * a job for a queue that a bus does not have ends with a `StatusMessage.error` that says so.
   */
  publish(jobs: readonly Job[]): Promise<void>
  /** `cancelled`: it will not run (or its run was stopped); `running`: too late; `unknown`: done or unknown. Other jobs are untouched. */
  cancel(jobId: string): Promise<'cancelled' | 'running' | 'unknown'>
  /** Starts delivery of status messages, and runs. One listener; called once, when the listener is ready, possibly before `start`. Never waits for a broker. */
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
/** Plugins that send jobs to extractors. */
export const Transports = contributions<Transport>('transports')
