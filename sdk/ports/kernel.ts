import type { Readable } from 'node:stream'
import type { PermissionCatalog } from '../model/permission.ts'
import type { Class } from '../port.ts'
import { contributions, port } from '../port.ts'

/** The current time. Can be set in tests. */
export interface Clock {
  now(): Date
}
export const Clock = port<Clock>('clock')

/** Generates ids: ObjectIds as 24 lower-case hex digits, increasing within one kernel. */
export interface Ids {
  next(): string
}
export const Ids = port<Ids>('ids')

/** A structured log. Fields with names of secrets are redacted; text is escaped. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  /** Pass the cause as `error`. */
  error(message: string, fields?: Readonly<Record<string, unknown>> & { readonly error?: unknown }): void
}
/** In a plugin: its own logger, which adds the plugin's id to every line. */
export const Log = port<Log>('log')

/** Counters and measurements, exported at `/metrics` if enabled; cheap if disabled. Names are snake_case with a unit. */
export interface Metrics {
  count(name: string, labels?: Readonly<Record<string, string>>, by?: number): void
  gauge(name: string, value: number, labels?: Readonly<Record<string, string>>): void
  /** A duration in seconds. */
  observe(name: string, seconds: number, labels?: Readonly<Record<string, string>>): void
}
export const Metrics = port<Metrics>('metrics')

/** The only way to send requests to external addresses: http(s), public addresses unless allow-listed; every redirect and DNS answer is checked again. */
export interface Fetch {
  /**
   * Rejects with `Unreachable` if the server is unreachable, too slow or redirects endlessly, and for host names that resolve to a non-public address, so that
   * names of internal networks are not revealed. `Forbidden` for a non-public numeric address, `Invalid` for a URL that cannot be fetched.
   */
  get(
    url: string,
    options: {
      readonly maxBytes: number
      /** For the whole response, up to the last byte. */
      readonly timeoutMs: number
      /** Maximum time between two chunks, including the time to the first byte. */
      readonly silenceMs?: number
      readonly headers?: Readonly<Record<string, string>>
      /** Aborts the request, and the response while its body is read. */
      readonly signal?: AbortSignal
    },
  ): Promise<{
    readonly status: number
    readonly contentType: string
    /** The length of `body`; undefined if the server does not declare it, or compressed the body. */
    readonly sizeBytes?: number
    /** The Content-Disposition header as sent. */
    readonly disposition?: string
    /**
     * Decompressed, if the server compressed it although it was requested not to; a file that is compressed by its type or name is returned as it is. Fails with
     * `TooLarge` beyond `maxBytes`, and with `Unreachable` when the connection breaks.
     */
    readonly body: Readable
    /** The final URL, after redirects. */
    readonly url: string
  }>

  /** Throws what `post` would throw for an address that is never allowed: `Invalid`, or `Forbidden` for a non-public numeric address. */
  check(url: string): void

  /**
   * Sends a body to an address given by a user, with the same checks as `get` and over persistent connections. Does not follow redirects but returns them.
   * Reads at most `maxBytes` of the response and does not wait for the rest. Rejects like `get`.
   */
  post(
    url: string,
    options: {
      readonly headers: Readonly<Record<string, string>>
      readonly body: Uint8Array
      readonly maxBytes: number
      /** For the whole exchange. A response whose body is incomplete by then is returned as it is. */
      readonly timeoutMs: number
      readonly signal?: AbortSignal
    },
  ): Promise<{
    readonly status: number
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
    /** The body as sent, not decoded. */
    readonly body: Buffer
    /** True if the body was truncated. */
    readonly isCut: boolean
  }>

  /**
   * Sends a request to or below a configured URL, which may therefore be in a private network and contain `user:password@`; never pass request data as
   * `server`. `where` is a path as sent, empty or starting with a slash, plus a query with its question mark. `Invalid` for a path that could leave the URL.
   * Does not follow redirects but returns them. `TooLarge` for a body longer than `maxBytes`; other errors of its stream are passed through.
   */
  below(
    server: string,
    where: { readonly path: string; readonly search: string },
    options: {
      readonly method: string
      readonly headers: Readonly<Record<string, string>>
      readonly body?: { readonly stream: Readable; readonly sizeBytes?: number; readonly maxBytes: number }
      readonly maxBytes: number
      readonly timeoutMs: number
      readonly silenceMs?: number
      /** Aborts the request. */
      readonly signal?: AbortSignal
    },
  ): ReturnType<Fetch['get']>
}
export const Fetch = port<Fetch>('fetch')

/** Sends mail. Mail that must arrive is sent from an event handler, so that it is retried through the outbox. */
export interface Mailer {
  /** Resolves when the next hop has accepted the message. Plain text; the subject is a single line. */
  send(mail: { readonly to: readonly string[]; readonly subject: string; readonly text: string }): Promise<void>
}
export const Mailer = port<Mailer>('mailer')

/** Properties of this installation that several plugins need. */
export interface Installation {
  /** Ten letters or digits, generated once per installation. */
  readonly instance: string
  readonly version: string
  /** The local data folder; each plugin writes only below `<folder>/<its own name>`. */
  readonly dataFolder: string
  /** The configured base URL without a trailing slash, such as `https://data.example.org/dm`. Links are built from it, never from the request. */
  readonly baseUrl: string
  /** Ids of the loaded plugins. */
  readonly plugins: readonly string[]
  /** The roles of this kernel: `http`, `worker` or both. */
  readonly roles: ReadonlySet<'http' | 'worker'>
  /** `access.private`, if configured. For the effective value see `Policy.isPrivate`. */
  readonly configuredPrivate?: boolean
  /** Server admins named in the configuration. Those with a password get an account at the first start; others become admins when their account is created. */
  readonly admins: readonly { readonly email: string; readonly password?: string }[]
  /** All permissions of Pounce and the loaded plugins. */
  readonly permissions: PermissionCatalog
}
export const Installation = port<Installation>('installation')

/**
 * Work that runs periodically on one kernel at a time. The class has `run(signal): Promise<void>`; a failed run is logged and retried at the next interval. The
 * signal is aborted when the kernel stops, or was disconnected or paused for so long that another one may have taken over. Changes in progress can still
 * complete then, so they must tolerate a concurrent second run: use guards instead of relying on earlier reads.
 */
export interface Periodic {
  /** Unique within the plugin; the name of the lease. */
  readonly name: string
  readonly everyMs: number
  readonly task: Class<{ run(signal: AbortSignal): Promise<void> }>
}

/** A subcommand of `pounce`, such as `user create`. It runs on a kernel without HTTP. */
export interface Command {
  /** As typed: `user create`. */
  readonly name: string
  readonly summary: string
  readonly arguments?: readonly { readonly name: string; readonly summary: string }[]
  readonly options?: readonly {
    readonly name: string
    readonly summary: string
    readonly takesValue: boolean
    readonly isRequired?: boolean
    /** A file path: `run` receives it as an absolute path, since the command may run in a server with another working directory. */
    readonly isPath?: boolean
  }[]
  /** On an empty data folder the command creates the installation, as a start does; other commands are refused there. */
  readonly createsInstallation?: boolean
  /** The result is printed: as a table, or as JSON with `--json`. Throw a `Problem` to fail with its message. */
  run(
    input: { readonly arguments: Readonly<Record<string, string>>; readonly options: Readonly<Record<string, string | boolean>> },
    progress: (message: string) => void,
  ): Promise<Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[]>
}
/** Plugins with subcommands of `pounce`. */
export const Commands = contributions<Command>('commands')

/** A message for the operator, such as how to sign in for the first time. */
export interface StartupMessage {
  /** Lines that `pounce start` prints once the server is listening; may be empty. */
  lines(): Promise<readonly string[]>
}
/** Plugins with startup messages. */
export const StartupMessages = contributions<StartupMessage>('startupMessages')
