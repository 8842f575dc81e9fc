import type { Readable } from 'node:stream'
import type { PermissionCatalog } from '../model/permission.ts'
import type { Class } from '../port.ts'
import { contributions, port } from '../port.ts'

/** The time. Tests set it. */
export interface Clock {
  now(): Date
}
export const Clock = port<Clock>('clock')

/** New ids: ObjectIds as 24 lower-case hex digits, increasing within one kernel. */
export interface Ids {
  next(): string
}
export const Ids = port<Ids>('ids')

/** A structured log. Fields named like secrets are redacted; text is escaped. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  /** Pass the cause as `error`. */
  error(message: string, fields?: Readonly<Record<string, unknown>> & { readonly error?: unknown }): void
}
/** Inside a plugin: its own log, with the plugin's id in every line. */
export const Log = port<Log>('log')

/** Counters and measurements, scraped at `/metrics` when that is on; cheap when it is off. Names are snake_case with a unit. */
export interface Metrics {
  count(name: string, labels?: Readonly<Record<string, string>>, by?: number): void
  gauge(name: string, value: number, labels?: Readonly<Record<string, string>>): void
  /** A duration in seconds. */
  observe(name: string, seconds: number, labels?: Readonly<Record<string, string>>): void
}
export const Metrics = port<Metrics>('metrics')

/** The only way to send requests to outside addresses: http(s), public addresses unless allow-listed, each redirect and DNS answer checked again. */
export interface Fetch {
  /**
   * Rejects with `Unreachable` when the other server is unreachable, is too slow or redirects without end, and for a name that leads to an address that is not
   * public: the names of an internal network must not be revealed. `Forbidden` for a numeric address that is not public, `Invalid` for what cannot be fetched.
   */
  get(
    url: string,
    options: {
      readonly maxBytes: number
      /** For all of it, to the last byte. */
      readonly timeoutMs: number
      /** Gives up when no byte comes for this long, the first one included. */
      readonly silenceMs?: number
      readonly headers?: Readonly<Record<string, string>>
    },
  ): Promise<{
    readonly status: number
    readonly contentType: string
    readonly sizeBytes?: number
    /** The header Content-Disposition as sent. */
    readonly disposition?: string
    /** Fails with `TooLarge` beyond `maxBytes`, and with `Unreachable` when it breaks off. */
    readonly body: Readable
    /** After redirects. */
    readonly url: string
  }>

  /** Throws what `post` would throw for an address that can never be reached: `Invalid`, or `Forbidden` for a numeric address that is not public. */
  check(url: string): void

  /**
   * Sends a body to an address that a user gave, as guarded as `get`, over connections that are kept for the next one. Follows no redirects: they are
   * answers too. At most `maxBytes` of the answer are read; the rest is not waited for. Rejects as `get` does.
   */
  post(
    url: string,
    options: {
      readonly headers: Readonly<Record<string, string>>
      readonly body: Uint8Array
      readonly maxBytes: number
      /** For all of it. An answer whose body is not complete by then counts as it is. */
      readonly timeoutMs: number
      readonly signal?: AbortSignal
    },
  ): Promise<{
    readonly status: number
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
    /** As sent, not decoded. */
    readonly body: Buffer
    /** There was more of it. */
    readonly isCut: boolean
  }>

  /**
   * Sends a request to or below an address of the configuration, which may for that be in a private network and hold `user:password@`; never pass text of a
   * request as `server`. `where` is: the path as sent, empty or from its first slash on, and the query with its question mark. `Invalid` for a path that might lead
   * out. Follows no redirects: they are answers too. `TooLarge` for a body longer than `maxBytes`; what else its stream fails with is passed on.
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
      /** Gives up when aborted. */
      readonly signal?: AbortSignal
    },
  ): ReturnType<Fetch['get']>
}
export const Fetch = port<Fetch>('fetch')

/** Mail that must arrive is sent from an event handler, so that the outbox repeats it. */
export interface Mailer {
  /** Resolves when the next hop has taken the message. Plain text; the subject is one line. */
  send(mail: { readonly to: readonly string[]; readonly subject: string; readonly text: string }): Promise<void>
}
export const Mailer = port<Mailer>('mailer')

/** Facts of this installation that more than one plugin needs. */
export interface Installation {
  /** Ten letters or digits, made once per installation. */
  readonly instance: string
  readonly version: string
  /** The folder for what this machine keeps; each plugin writes below `<folder>/<its own name>` only. */
  readonly dataFolder: string
  /** The configured address without a trailing slash, such as `https://data.example.org/dm`. Links are made from it, never from a request. */
  readonly baseUrl: string
  /** Ids of the plugins that run. */
  readonly plugins: readonly string[]
  /** Which of `http` and `worker` this kernel is. */
  readonly roles: ReadonlySet<'http' | 'worker'>
  /** `access.private`, where it is set. Whether the server is private now: `Policy.isPrivate`. */
  readonly configuredPrivate?: boolean
  /** Server admins named by the configuration. One with a password gets an account at the first start; the others become admins when their account is made. */
  readonly admins: readonly { readonly email: string; readonly password?: string }[]
  /** Every permission of Pounce and of the plugins that run. */
  readonly permissions: PermissionCatalog
}
export const Installation = port<Installation>('installation')

/**
 * Work that one kernel at a time does now and then. The class has `run(signal): Promise<void>`; a failed run is logged and tried at the next turn.
 * The signal is aborted when the kernel stops, or when it was cut off or paused for so long that another one may have taken over. A change
 * that is under way then still comes through, so what the work writes must bear a second runner: guards, not what was read before.
 */
export interface Periodic {
  /** Unique in the plugin; names the lease. */
  readonly name: string
  readonly everyMs: number
  readonly task: Class<{ run(signal: AbortSignal): Promise<void> }>
}

/** A line of the `pounce` command, such as `user create`. It runs on a kernel that serves no HTTP. */
export interface Command {
  /** Words as typed: `user create`. */
  readonly name: string
  readonly summary: string
  readonly arguments?: readonly { readonly name: string; readonly summary: string }[]
  readonly options?: readonly {
    readonly name: string
    readonly summary: string
    readonly takesValue: boolean
    readonly isRequired?: boolean
    /** A path of a file: `run` receives it absolute, as the command may run in a server with another working directory. */
    readonly isPath?: boolean
  }[]
  /** On a new data folder it makes the installation, as a start does; other commands are refused there. */
  readonly createsInstallation?: boolean
  /** What it returns is printed: a table for people, JSON with `--json`. Throw a `Problem` to fail with its message. */
  run(
    input: { readonly arguments: Readonly<Record<string, string>>; readonly options: Readonly<Record<string, string | boolean>> },
    progress: (message: string) => void,
  ): Promise<Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[]>
}
/** Plugins with commands for `pounce`. */
export const Commands = contributions<Command>('commands')

/** A message for the person who starts the server, such as how to sign in the first time. */
export interface Greeting {
  /** Lines that `pounce start` prints once the server listens; none when there is nothing to say. */
  lines(): Promise<readonly string[]>
}
/** Plugins with lines to print once the server listens. */
export const Greetings = contributions<Greeting>('greetings')
