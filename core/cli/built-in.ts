import type { Command } from 'pounce/sdk'
import type { ConfigSources } from '../kernel/config.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { StartupError } from '../kernel/startup-error.ts'
import type { Output } from './output.ts'

/** The server in which a command runs. */
export interface CommandHost {
  readonly kernel: Kernel
  /** The working directory of the client, the base of relative paths. */
  readonly folder: string
}

/** Runs one command line, in the server of `host` if given; resolves to the exit code. */
export type RunLine = (args: readonly string[], output: Output, host?: CommandHost) => Promise<number>

/** An invalid command line: exit code 2. */
export class UsageError extends StartupError {}

/** The context of a kernel command. */
export interface CommandContext {
  readonly sources: ConfigSources
  /** The server's kernel, if the command runs in a server. */
  readonly running?: Kernel
  readonly arguments: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, string | boolean>>
  readonly asJson: boolean
  readonly output: Output
  progress(message: string): void
  /** Runs another command line. */
  readonly runLine: RunLine
}

/** Runs a command and returns the result to print; `failed` determines the exit code. */
export type RunCommand = (context: CommandContext) => Promise<unknown>

/** A kernel command, whose code is loaded on demand. */
export type BuiltIn = Omit<Command, 'run' | 'arguments'> & {
  readonly arguments?: readonly { readonly name: string; readonly summary: string; readonly isOptional?: boolean }[]
  /** `server`: runs in the server of the data folder if one is running, otherwise in this process. */
  readonly runsIn?: 'server'
  /** Not listed in the help: a former name, for existing scripts. */
  readonly isHidden?: true
  load(): Promise<RunCommand>
}

const eventArguments = [{ name: 'consumer', summary: 'Consumer as listed by `events dead-letters`, or `all` for every dead letter' }]

const eventOption = { name: 'event', summary: 'Only the event with this id', takesValue: true }

const pluginArguments = [{ name: 'plugin', summary: 'Plugin as listed by `plugin list`' }]

const deadLetters: Omit<BuiltIn, 'name'> = {
  summary: 'List dead letters: events that failed too often',
  runsIn: 'server',
  options: [{ name: 'limit', summary: 'Maximum number of events to list (default: 100)', takesValue: true }],
  load: async () => (await import('./events-commands.ts')).listDeadLetters,
}

/** The commands of `pounce` that need no plugin. */
export const builtIns: readonly BuiltIn[] = [
  { name: 'start', summary: 'Start the server', load: async () => (await import('./start.ts')).start },
  {
    name: 'status',
    summary: 'Show the running server of the data folder',
    runsIn: 'server',
    load: async () => (await import('./inspect-commands.ts')).showStatus,
  },
  {
    name: 'config print',
    summary: 'Print all settings with their defaults; secrets are masked',
    load: async () => (await import('./inspect-commands.ts')).printConfig,
  },
  {
    name: 'config check',
    summary: 'Validate the settings and the plugins without starting',
    load: async () => (await import('./inspect-commands.ts')).checkConfig,
  },
  {
    name: 'plugin list',
    summary: 'List the plugins in start order, with version, source and health',
    runsIn: 'server',
    load: async () => (await import('./inspect-commands.ts')).listPlugins,
  },
  {
    name: 'plugin on',
    summary: 'Switch a plugin on: immediately if it is switchable, otherwise at the next start',
    runsIn: 'server',
    arguments: pluginArguments,
    load: async () => (await import('./inspect-commands.ts')).switchOn,
  },
  {
    name: 'plugin off',
    summary: 'Switch a plugin off; events for it are kept',
    runsIn: 'server',
    arguments: pluginArguments,
    load: async () => (await import('./inspect-commands.ts')).switchOff,
  },
  {
    name: 'plugin new',
    summary: 'Create a working plugin with a test in an empty folder',
    arguments: [
      { name: 'kind', summary: 'routes, blobs, search, auth, extractor, viewer, transport or geo' },
      { name: 'folder', summary: 'An empty or new folder (default: the current one)', isOptional: true },
    ],
    options: [
      { name: 'name', summary: 'Package name, such as @acme/pounce-tides (default: the folder name)', takesValue: true },
      {
        name: 'from',
        summary: 'Pounce package file, such as pounce-0.1.0.tgz, to use instead of the registry',
        takesValue: true,
        isPath: true,
      },
    ],
    load: async () => (await import('./plugin-new.ts')).newPlugin,
  },
  {
    name: 'dev',
    summary: 'Run Pounce with the plugin in a folder; restart on each change',
    arguments: [{ name: 'folder', summary: 'Folder of the plugin (default: the current one)', isOptional: true }],
    load: async () => (await import('./dev.ts')).dev,
  },
  {
    name: 'migrate',
    summary: 'Migrate the installation to other stores (--from, --to), or list migrations',
    options: [
      {
        name: 'from',
        summary:
          'Current document and blob store, such as sqlite+disk; add the datapoint store to migrate datapoints too: sqlite+disk+rtree',
        takesValue: true,
      },
      {
        name: 'to',
        summary: 'Target stores, such as mongodb+s3 or mongodb+s3+postgis; must be empty or contain an unfinished migration',
        takesValue: true,
      },
      { name: 'read-data', summary: 'Verify every byte in the target store', takesValue: false },
      { name: 'skip-damaged', summary: 'Migrate records with damaged bytes without the bytes, instead of failing', takesValue: false },
      {
        name: 'skip-plugins',
        summary: 'Plugins that are not loaded and whose records are not migrated, separated by commas',
        takesValue: true,
      },
    ],
    load: async () => (await import('./migrate.ts')).move,
  },
  { name: 'migrate status', summary: 'List migrations', load: async () => (await import('./migrate.ts')).migrationStatus },
  {
    name: 'migrate up',
    summary: 'Apply pending migrations; make a backup first',
    load: async () => (await import('./migrate.ts')).migrateUp,
  },
  { ...deadLetters, name: 'events dead-letters' },
  { ...deadLetters, name: 'events parked', isHidden: true },
  {
    name: 'events retry',
    summary: 'Redeliver dead letters',
    runsIn: 'server',
    arguments: eventArguments,
    options: [eventOption],
    load: async () => (await import('./events-commands.ts')).retryDeadLetters,
  },
  {
    name: 'events drop',
    summary: 'Delete dead letters without handling them',
    runsIn: 'server',
    arguments: eventArguments,
    options: [eventOption],
    load: async () => (await import('./events-commands.ts')).dropDeadLetters,
  },
  {
    name: 'events forget',
    summary: 'Delete the events kept for a consumer whose plugin is not loaded',
    runsIn: 'server',
    arguments: [{ name: 'consumer', summary: 'Consumer as listed by `doctor`' }],
    load: async () => (await import('./events-commands.ts')).forgetConsumer,
  },
  {
    name: 'openapi',
    summary: 'Print the OpenAPI document',
    options: [{ name: 'out', summary: 'Write the document to this file instead of standard output', takesValue: true }],
    load: async () => (await import('./inspect-commands.ts')).writeOpenapi,
  },
]
