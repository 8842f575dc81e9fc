import type { ExtractorInfo } from '../model/extractor-info.ts'
import { contributions } from '../port.ts'

/** The input of a built-in extractor. The file is a private copy or the stored bytes themselves: never write to `path`. */
export interface ExtractorInput {
  /** A readable file with all bytes of the resource. */
  readonly path: string
  /** The file's name as people see it. */
  readonly filename: string
  readonly contentType: string
  readonly sizeBytes: number
  /** An empty folder of this run alone; everything in it is deleted when the run's result has been taken over. */
  readonly outputFolder: string
  /** What the submitter requested, checked against the extractor's `parameters` by no one: treat as user input. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Aborted when the job is cancelled. The process is killed soon after. */
  readonly signal: AbortSignal
  /** Reports progress to the listener. At most one line a second is kept. */
  progress(message: string): void
}

/** A file that the extractor wrote into `outputFolder`. */
export interface DerivedFile {
  /** Path inside `outputFolder`. */
  readonly path: string
  readonly contentType: string
  readonly title?: string
}

/** What a built-in extractor found. Everything is optional; an empty result is a success. */
export interface ExtractorOutput {
  /** Becomes one JSON-LD document of agent `cat:extractor`. Absent or empty: no document. */
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly tags?: readonly string[]
  /** At most 20; shown in this order. */
  readonly previews?: readonly DerivedFile[]
  /** Becomes the file's thumbnail: JPEG, PNG or WebP, 225 px at the longer side (Clowder 1.x, thumbnails). */
  readonly thumbnail?: DerivedFile
  /** Why nothing could be done, when that is so ("ffprobe was not found"): shown as a skipped run. */
  readonly skipped?: string
}

/** The function that `Extractor.module` exports under the name `extract`. It runs in a process of its own. */
export type Extract = (input: ExtractorInput) => Promise<ExtractorOutput>

/**
 * What an extractor needs beyond reading its input, its own package and `node_modules`, and writing into its output folder. All of it is refused
 * otherwise, and what is declared here is shown to the operator. See `plugins/transport/queue/README.md` for what holds on which system.
 */
export interface ExtractorNeeds {
  /** Loads native addons (`.node` files), its own or of a library such as sharp. Node's permission model does not hold their code. */
  readonly nativeAddons?: boolean
  /** Starts programs that are installed on the server. Node's permission model does not hold them. */
  readonly childProcesses?: boolean
  /** Opens sockets, looks up names. */
  readonly network?: boolean
  readonly workerThreads?: boolean
  /** Absolute paths of more files and folders to read, such as models. */
  readonly readPaths?: readonly string[]
}

/**
 * An extractor that Pounce runs itself. A class that is contributed keeps no state: `module` is loaded in a child
 * process with limits, and crashes, loops and leaks there end that run alone.
 */
export interface Extractor {
  readonly info: ExtractorInfo
  /** A module that exports `extract: Extract`. */
  readonly module: URL
  /** After this the run is killed and counts as failed. */
  readonly timeoutMs: number
  /** Upper bound of the JavaScript heap of a run. */
  readonly memoryMb: number
  /** Absent: nothing. */
  readonly needs?: ExtractorNeeds
}
/** Plugins with extractors that run in this server. */
export const Extractors = contributions<Extractor>('extractors')
