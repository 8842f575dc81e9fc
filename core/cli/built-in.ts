import type { Command } from 'pounce/sdk'
import type { ConfigSources } from '../config.ts'
import type { Output } from './output.ts'

/** What a command of the kernel works with. */
export interface Context {
  readonly sources: ConfigSources
  readonly arguments: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, string | boolean>>
  readonly asJson: boolean
  readonly output: Output
  progress(message: string): void
}

/** Runs a command; what it returns is printed, and `failed` decides on the exit code. */
export type Run = (context: Context) => Promise<unknown>

/** A command of the kernel. Its code is loaded when it is called. */
export type BuiltIn = Omit<Command, 'run'> & { load(): Promise<Run> }

const eventArguments = [{ name: 'consumer', summary: 'Who failed, as `events parked` lists it; `all` for every parked event' }]

const eventOption = { name: 'event', summary: 'Only the event with this id', takesValue: true }

/** Everything `pounce` can do without a plugin. */
export const builtIns: readonly BuiltIn[] = [
  { name: 'start', summary: 'Start the server', load: async () => (await import('./start.ts')).start },
  {
    name: 'config print',
    summary: 'Print all settings with their defaults; secrets are masked',
    load: async () => (await import('./config-commands.ts')).printConfig,
  },
  {
    name: 'config check',
    summary: 'Check the settings and the plugins without starting anything',
    load: async () => (await import('./config-commands.ts')).checkConfig,
  },
  {
    name: 'plugin list',
    summary: 'List the plugins in the order of their start',
    load: async () => (await import('./plugin-list.ts')).listPlugins,
  },
  {
    name: 'migrate',
    summary: 'Move the installation to other stores (--from, --to), or list migrations',
    options: [
      {
        name: 'from',
        summary: 'Stores of records and bytes it is in, such as sqlite+disk; with a third part the points move, too: sqlite+disk+rtree',
        takesValue: true,
      },
      {
        name: 'to',
        summary: 'Stores it shall be in, such as mongodb+s3 or mongodb+s3+postgis; empty, or with an unfinished move to them',
        takesValue: true,
      },
      { name: 'read-data', summary: 'Read every byte in the new store for the comparison, too', takesValue: false },
      { name: 'skip-damaged', summary: 'Move records whose bytes are damaged without them, instead of ending', takesValue: false },
    ],
    load: async () => (await import('./move.ts')).move,
  },
  { name: 'migrate status', summary: 'List migrations', load: async () => (await import('./migrate.ts')).migrationStatus },
  {
    name: 'migrate up',
    summary: 'Apply pending migrations; make a backup first',
    load: async () => (await import('./migrate.ts')).migrateUp,
  },
  {
    name: 'events parked',
    summary: 'List events that failed too often and were put aside',
    options: [{ name: 'limit', summary: 'At most this many, 100 unless said', takesValue: true }],
    load: async () => (await import('./events-commands.ts')).listParked,
  },
  {
    name: 'events retry',
    summary: 'Hand parked events out again',
    arguments: eventArguments,
    options: [eventOption],
    load: async () => (await import('./events-commands.ts')).retryParked,
  },
  {
    name: 'events drop',
    summary: 'Forget parked events: what they stood for is then never done',
    arguments: eventArguments,
    options: [eventOption],
    load: async () => (await import('./events-commands.ts')).dropParked,
  },
  {
    name: 'openapi',
    summary: 'Print the OpenAPI document',
    options: [{ name: 'out', summary: 'Write it to this file instead', takesValue: true }],
    load: async () => (await import('./openapi.ts')).writeOpenapi,
  },
]
