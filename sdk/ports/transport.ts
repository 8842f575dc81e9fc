import type { ExtractorInfo } from '../model/extractor-info.ts'
import type { Kind, Ref } from '../model/kind.ts'
import { contributions } from '../port.ts'
import type { ExtractorOutput } from './extractor.ts'

/** A requested run of an extractor. */
export interface Job {
  /** Unique; publishing the same id again has no effect. */
  readonly id: string
  /** The queue: the extractor's name (`private.<key>.<name>` for private ones). */
  readonly queue: string
  /** The file or dataset to process. */
  readonly target: Ref
  /** The user it runs for; null for none. A distributed transport adds the job's key (`Keys.jobKey`) to the message when sending it. */
  readonly user: string | null
  /**
   * The message in the format that extractors expect (reference, extraction §2), without its `secretKey`: keys are not stored in jobs. Its `jobid` (used in
   * replies) and `msgid` are `id`, so that replies and waiting messages can be matched with their job.
   */
  readonly message: Readonly<Record<string, unknown>>
  /** The submitter's parameters. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** A status message of a job. May be repeated or out of order. */
export interface JobStatus {
  /** Not sent by old extractors. */
  readonly jobId?: string
  /** Id of the file, dataset, section or collection. May be unknown here. */
  readonly targetId: string
  /** `ExtractorInfo.name`. */
  readonly extractor: string
  /** In Clowder's terms: `StatusMessage.processing: Downloading file.`, `DONE`, `StatusMessage.error: …`. */
  readonly status: string
  /** The time according to the extractor. */
  readonly at: Date
  /** A user id, sent by some old clients. */
  readonly user?: string
}

/** The result of an extractor that the transport runs itself. */
export interface JobResult {
  readonly job: Job
  readonly info: ExtractorInfo
  readonly output: ExtractorOutput
  /** The folder that `DerivedFile.path` is relative to; deleted once the listener has resolved. */
  readonly outputFolder: string
}

/** An extractor's announcement of itself. */
export interface Heartbeat {
  readonly queue: string
  /** The raw `extractor_info`, not yet validated. */
  readonly info: unknown
  /** Email of the owner of a private extractor. */
  readonly owner?: string
  /** The transport runs the extractor itself: it is part of this installation and initially enabled. */
  readonly isBuiltIn: boolean
}

/** The state of a queue. */
export interface QueueStatistics {
  readonly queue: string
  readonly waiting: number
  readonly running: number
  /** Number of listening extractors. */
  readonly consumers: number
  /** Number of dead-lettered jobs. */
  readonly dead: number
}

/** Receives messages from the transport. If a listener rejects, it is called again later with the same message; with `InTrash`, until the target is restored or deleted. */
export interface TransportListener {
  /** `unknown`: there is no such job, as after its file or dataset was deleted. A transport need not keep or repeat it then. */
  status(status: JobStatus): Promise<'unknown' | undefined>
  /** Stores the result and then resolves, which completes the job. May be called again after a crash, so it must be idempotent by `job.id`. */
  result(result: JobResult): Promise<void>
  heartbeat(heartbeat: Heartbeat): Promise<void>
  /** The input of a built-in extractor as a file; undefined if it was deleted or is no file (the job then ends as skipped). */
  input(
    target: Ref,
  ): Promise<{ readonly filename: string; readonly contentType: string; readonly sizeBytes: number; readonly blob: string } | undefined>
}

/** A listener on a queue of a bus, with its address. */
export interface BusListener {
  readonly queue: string
  readonly address: string
  readonly count: number
}

/** Properties of a bus shared with external extractors. Results are at most five minutes old while the broker is available. */
export interface Bus {
  /** Queues whose bindings to the exchange match this routing key (reference, extraction §1.4, legacy): the last known ones while the broker is unavailable. */
  boundTo(routingKey: string): Promise<readonly string[]>
  /** At most 1,000, by queue; none while the broker is unavailable. */
  listeners(): Promise<readonly BusListener[]>
  /** Distinct third parts of the binding keys, sorted: `image`, `text`. */
  inputTypes(): Promise<readonly string[]>
}

/**
 * Sends jobs to extractors and returns their status messages, each at least once. Jobs survive a crash of any component. Several transports may run together: a
 * job goes to the one that `runs` its queue, or without a `bus` if its extractor is built in and switched off, otherwise to the first with a `bus`, otherwise to the first.
 */
export interface Transport {
  /** Queues of extractors that this transport runs itself; empty for a bus. */
  runs(): ReadonlySet<string>
  /** Capability `bus`: external extractors listen here. */
  readonly bus?: Bus
  /**
   * Durable when it resolves, whether or not the broker is available; sent as soon as possible. At most 1,000. An existing queue keeps its jobs while no one is
   * listening; a job for a queue that does not exist on a bus ends with a `StatusMessage.error` to that effect.
   */
  publish(jobs: readonly Job[]): Promise<void>
  /** `cancelled`: it will not run, or its run was stopped; `running`: too late; `unknown`: done or unknown. Other jobs are unaffected. */
  cancel(jobId: string): Promise<'cancelled' | 'running' | 'unknown'>
  /**
   * Starts the delivery of status messages and results to the only listener. Called once, when the listener is ready, possibly before `start`. Never waits for
   * a broker.
   */
  listen(listener: TransportListener): Promise<void>
  /** At most 1,000 queues, by name. */
  queues(): Promise<readonly QueueStatistics[]>
  /** Unfinished jobs for one target, oldest first, at most 1,000. */
  pending(target: {
    readonly kind: Kind
    readonly id: string
  }): Promise<readonly { readonly job: Job; readonly state: 'waiting' | 'running' | 'dead'; readonly attempts: number }[]>
  /** Requeues a dead job at the end of its queue. False if there is none. */
  revive(jobId: string): Promise<boolean>
  readonly kind: string
}
/** Plugins that send jobs to extractors. */
export const Transports = contributions<Transport>('transports')
