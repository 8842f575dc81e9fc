import type { ExtractorInfo } from '../model/extractor-info.ts'
import { contributions } from '../port.ts'

/** The input of a built-in extractor. The file may be a copy or the stored bytes themselves: never write to `path`. */
export interface ExtractorInput {
  /** A readable file with all bytes. */
  readonly path: string
  /** The displayed name of the file. */
  readonly filename: string
  readonly contentType: string
  readonly sizeBytes: number
  /** An empty folder for this run; deleted once the result has been stored. */
  readonly outputFolder: string
  /** The submitter's parameters. Not validated against the extractor's `parameters`: treat them as untrusted. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Aborted when the job is cancelled. The process is killed soon afterwards. */
  readonly signal: AbortSignal
  /** Reports progress. At most one line per second is kept. */
  progress(message: string): void
}

/** A file that the extractor wrote into `outputFolder`. */
export interface DerivedFile {
  /** Path relative to `outputFolder`. */
  readonly path: string
  readonly contentType: string
  readonly title?: string
}

/** The result of a built-in extractor. Everything is optional; an empty result is a success. */
export interface ExtractorOutput {
  /** Becomes one JSON-LD document of agent `cat:extractor`. Absent or empty: no document. */
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly tags?: readonly string[]
  /** At most 20; displayed in this order. */
  readonly previews?: readonly DerivedFile[]
  /** Becomes the file's thumbnail: JPEG, PNG or WebP, longer side 225 px (Clowder 1.x, thumbnails). */
  readonly thumbnail?: DerivedFile
  /** The reason if nothing could be done ("ffprobe was not found"): the run is shown as skipped. */
  readonly skipped?: string
}

/** The type of the function `extract` exported by `Extractor.module`. It runs in a separate process. */
export type Extract = (input: ExtractorInput) => Promise<ExtractorOutput>

/**
 * What an extractor needs besides reading its input, its own package and `node_modules`, and writing to its output folder. Everything else is denied, and the
 * needs are shown to the operator. See `plugins/transport/queue/README.md` for what is enforced on which system.
 */
export interface ExtractorNeeds {
  /** Loads native addons (`.node` files), its own or those of a library such as sharp. Node's permission model does not restrict native code. */
  readonly nativeAddons?: boolean
  /** Starts programs installed on the server. Node's permission model does not restrict them. */
  readonly childProcesses?: boolean
  /** Opens sockets and resolves host names. */
  readonly network?: boolean
  readonly workerThreads?: boolean
  /** Absolute paths of additional files and folders to read, such as models. */
  readonly readPaths?: readonly string[]
}

/**
 * An extractor that Pounce runs itself. The contributed class is stateless: `module` is loaded in a child process with resource limits, so that crashes,
 * endless loops and leaks only affect that run.
 */
export interface Extractor {
  readonly info: ExtractorInfo
  /** A module that exports `extract: Extract`. */
  readonly module: URL
  /** The run is killed and fails after this time. */
  readonly timeoutMs: number
  /** Maximum JavaScript heap of a run. */
  readonly memoryMb: number
  /** Absent: none. */
  readonly needs?: ExtractorNeeds
}
/** Plugins with built-in extractors. */
export const Extractors = contributions<Extractor>('extractors')
