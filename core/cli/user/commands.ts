import { Argument, type Command as Commander, Option } from 'commander'
import { formatted, type Output, progressOn } from '../output.ts'
import type { RunUserCommand } from './command-context.ts'

interface UserCommand {
  readonly name: string
  readonly summary: string
  /** Set if Commander cannot express the arguments: a repeated argument before the last. */
  readonly usage?: string
  /** In Commander's syntax: `<source> [folder]`. */
  readonly arguments: readonly (readonly [name: string, summary: string])[]
  readonly options?: readonly (readonly [flags: string, summary: string, isRepeatable?: boolean])[]
  readonly help?: string
  /** Loads its code. */
  load(): Promise<RunUserCommand>
}

const addresses = `
Addresses of resources:
  /Space/Collection/Dataset/folder/file    by name; the first is a space, otherwise a collection or dataset
  dataset:5f4d…/folder/file                by id: space:, collection:, dataset: or file:
  https://data.example.org/datasets/5f4d…  the address of a page; also selects the server
If a name means several resources, the error lists their ids. Use the id if a name contains a slash.`

const transfers = [
  ['--jobs <number>', 'number of concurrent transfers (default: 4)'],
  ['--retries <number>', 'maximum number of consecutive retries after transient failures (default: 9)'],
] as const

const create = ['--create', 'create the dataset if it does not exist; it must be the last name of the target'] as const

const exclude = ['--exclude <pattern>', 'exclude matching files and folders, such as "*.tmp" or "raw/old"; repeatable', true] as const

const server = ['--server <address>', 'server to use (default: POUNCE_SERVER, or the last one signed in to)'] as const

const loadAccount = () => import('./account-commands.ts')
const loadResources = () => import('./resource-commands.ts')

/** Commands that use any server over HTTP. */
const userCommands: readonly UserCommand[] = [
  {
    name: 'login',
    summary: 'Sign in to a server and store an API key',
    arguments: [['<address>', 'address of the server, such as https://data.example.org']],
    options: [
      ['--email <address>', 'email address of the account; the password is read from the terminal or standard input'],
      ['--key <key>', 'use this API key; - reads it from the terminal or standard input'],
    ],
    load: async () => (await loadAccount()).login,
  },
  {
    name: 'logout',
    summary: 'Revoke the key created by login, and delete it locally',
    arguments: [],
    options: [server],
    load: async () => (await loadAccount()).logout,
  },
  {
    name: 'whoami',
    summary: 'Show the server and the account in use',
    arguments: [],
    options: [server],
    load: async () => (await loadAccount()).whoami,
  },
  {
    name: 'ls',
    summary: 'List spaces, or the contents of a resource',
    arguments: [['[resource]', 'resource to list (default: all spaces)']],
    options: [
      ['--recursive', 'also list all folders of a dataset'],
      ['--datasets', 'list all datasets instead of spaces'],
      ['--limit <number>', 'maximum number of rows (default: 1000)'],
      server,
    ],
    help: addresses,
    load: async () => (await loadResources()).list,
  },
  {
    name: 'put',
    summary: 'Upload files and folders to a dataset',
    usage: '[options] <sources...> <target>',
    arguments: [['<sources...>', 'files and folders, followed by the target dataset or folder']],
    options: [create, exclude, ...transfers, server],
    help: `
photos uploads the folder, photos/ its contents. Missing folders of an existing dataset are created. Files that already exist in the
dataset are skipped; a file that differs becomes the newest version. Repeat the command to resume an interrupted upload.
${addresses}`,
    load: async () => (await import('./put-command.ts')).put,
  },
  {
    name: 'get',
    summary: 'Download a file, a folder or a dataset',
    arguments: [
      ['<source>', 'file, folder or dataset; with a trailing slash, its contents'],
      ['[folder]', 'target folder (default: the current folder); - writes a file to standard output'],
    ],
    options: [['--overwrite', 'replace files that differ'], exclude, ...transfers, server],
    help: `
Each file is verified against its SHA-256. Repeat the command to resume an interrupted download.
${addresses}`,
    load: async () => (await import('./get-command.ts')).get,
  },
  {
    name: 'sync',
    summary: 'Make a dataset match a folder, or with --down the reverse',
    arguments: [
      ['<folder>', 'local folder'],
      ['<dataset>', 'dataset, or a folder in it'],
    ],
    options: [
      ['--down', 'change the folder, not the dataset'],
      ['--delete', 'delete files that do not exist in the source'],
      ['--yes', 'delete without confirmation'],
      ['--dry-run', 'show the changes without making them'],
      create,
      exclude,
      ...transfers,
      server,
    ],
    help: addresses,
    load: async () => (await import('./sync-command.ts')).sync,
  },
  {
    name: 'search',
    summary: 'Search names, descriptions, tags, metadata and text',
    arguments: [['<words...>', 'the query; docs/search.md describes its language']],
    options: [
      ['--limit <number>', 'maximum number of hits (default: 20)'],
      ['--kind <kind>', 'only hits of this kind: file, dataset or collection'],
      server,
    ],
    load: async () => (await loadResources()).search,
  },
  {
    name: 'tag',
    summary: 'List, add or remove tags',
    arguments: [
      ['<resource>', 'file, dataset or collection'],
      ['[action]', 'add, remove or list (default: list)'],
      ['[tags...]', 'tags to add or remove'],
    ],
    options: [server],
    help: addresses,
    load: async () => (await loadResources()).tag,
  },
  {
    name: 'meta',
    summary: 'Show, set or add metadata',
    arguments: [
      ['<resource>', 'file, dataset, collection or space'],
      ['[action]', 'get, set or add (default: get)'],
      ['[values...]', 'key=value, @file.json, or - for JSON from standard input'],
    ],
    options: [server],
    help: `
add stores another document; set changes these keys in your own metadata and keeps the others. Values are parsed as JSON (17, true) if possible;
integers that are too long for a number stay text.
${addresses}`,
    load: async () => (await loadResources()).metadata,
  },
]

/** The parts of the program that commands use. */
interface Program {
  readonly output: Output
  fail(): void
}

/** Adds the user commands to the program; returns their names. */
export const addUserCommands = (program: Commander, { output, fail }: Program): ReadonlySet<string> => {
  for (const { name, summary, usage, arguments: taken, options = [], help, load } of userCommands) {
    const own = program.command(name).description(summary).helpGroup('Work with a server:')
    for (const [argument, about] of taken) own.addArgument(new Argument(argument, about))
    if (usage !== undefined) own.usage(usage)
    for (const [flags, about, isRepeatable = false] of options) {
      const option = new Option(flags, about)
      if (isRepeatable) option.argParser((value: string, previous: readonly string[] = []) => [...previous, value])
      own.addOption(option)
    }
    if (help !== undefined) own.addHelpText('after', help)
    own.action(async () => {
      const progress = progressOn(output)
      const asJson = program.opts<{ readonly json?: boolean }>().json ?? false
      try {
        const result = await (await load())({ arguments: own.processedArgs, options: own.opts(), asJson, output, progress, fail })
        progress.end()
        if (result !== undefined) output.out(formatted(result, asJson && typeof result !== 'string', output.columns))
      } finally {
        progress.end()
      }
    })
  }
  return new Set(userCommands.map(({ name }) => name))
}
