import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Command as Commander } from 'commander'
import { errorPlace } from '../error-place.ts'
import type { ConfigSources } from '../kernel/config.ts'
import { messageOf, StartupError } from '../kernel/startup-error.ts'
import { programVersion } from '../services/installation.ts'
import { type BuiltIn, builtIns, type CommandHost, type RunLine, UsageError } from './built-in.ts'
import { formatted, type Output, progressOn } from './output.ts'
import { visible } from './pretty-log.ts'

interface GlobalOptions {
  readonly config?: string
  readonly data?: string
  readonly host?: string
  readonly port?: string
  readonly set?: readonly string[]
  readonly json?: boolean
}

/** The conventional exit code for an invalid command line; nothing was done. */
const usageExitCode = 2

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

const describeProgram = (program: Commander, output: Output, asJson: boolean): Commander =>
  program
    .description('Research data management')
    .version(programVersion)
    .option('--config <file>', 'configuration file that overrides the defaults')
    .option('--data <folder>', 'data folder')
    .option('--host <address>', 'address to listen on')
    .option('--port <number>', 'port to listen on')
    .option('--set <name=value>', 'set one setting, such as log.level=debug; repeatable', collect)
    .option('--json', 'print results and errors as JSON')
    .exitOverride()
    .configureOutput({
      writeOut: output.out,
      writeErr: output.err,
      outputError: (text, write) => write(asJson ? `${JSON.stringify({ error: text.trim().replace(/^error: /, '') })}\n` : text),
    })

const flagsOf = ({ data, host, port, set = [] }: GlobalOptions): Record<string, string> => {
  const flags: Record<string, string> = {}
  if (data !== undefined) flags['data'] = data
  if (host !== undefined) flags['http.host'] = host
  if (port !== undefined) flags['http.port'] = port
  for (const assignment of set) {
    const [name = '', ...value] = assignment.split('=')
    if (value.length === 0) throw new StartupError(`--set ${assignment} has no value: write --set name=value`)
    flags[name] = value.join('=')
  }
  return flags
}

/** The environment without the variables of the client commands. */
const serverEnvironment = (): NodeJS.ProcessEnv => {
  const { POUNCE_SERVER: _server, POUNCE_KEY: _key, ...others } = process.env
  return others
}

const sourcesOf = (options: GlobalOptions): ConfigSources => ({
  environment: serverEnvironment(),
  flags: flagsOf(options),
  flagSpellings: Object.fromEntries(
    Object.entries({ data: '--data', 'http.host': '--host', 'http.port': '--port' }).filter(
      ([name]) => !options.set?.some(one => one.startsWith(`${name}=`)),
    ),
  ),
  ...(options.config === undefined ? {} : { file: options.config }),
})

interface Session {
  readonly output: Output
  readonly host: CommandHost | undefined
  /** Sets the exit code to 1. */
  fail(): void
}

const camelCase = (name: string): string => name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** An absolute path if the command runs in a server, which has a different working directory. */
const pathFrom = (host: CommandHost | undefined, option: string, path: string): string => {
  // Usually an unset variable of a script; it would mean the working directory.
  if (path === '') throw new StartupError(`--${option} is empty: specify a path`)
  if (!host) return path
  if (/^\/(?:dev|proc)\//.test(path))
    throw new StartupError(`--${option} ${path}: the command runs in the server, which cannot read this: use a regular file`)
  return resolve(host.folder, path)
}

const groupPrefix = 'Subcommands: '

/** Describes a word that is only the beginning of commands; `migrate`, a command itself, keeps its summary. */
const describeGroup = (group: Commander): void => {
  if (group.description() !== '' && !group.description().startsWith(groupPrefix)) return
  const names = group
    .createHelp()
    .visibleCommands(group)
    .map(one => one.name())
  group.description(groupPrefix + names.filter(name => name !== 'help').join(', '))
}

/** Adds a command, for instance `user create` below `user`. */
const add = (program: Commander, command: BuiltIn, { output, host, fail }: Session): void => {
  const names = command.name.split(' ')
  const parent = names.slice(0, -1).reduce<Commander>((above, word) => {
    const known = above.commands.find(one => one.name() === word)
    return known ?? above.command(word)
  }, program)
  const last = names.at(-1) ?? command.name
  if (parent.commands.some(one => one.name() === last))
    throw new StartupError(`The command "${command.name}" of a plugin is not available: there is already a command of this name`)
  const own = parent.command(last, { hidden: command.isHidden ?? false }).description(command.summary)
  if (parent !== program) describeGroup(parent)
  for (const { name, summary, isOptional } of command.arguments ?? []) own.argument(isOptional ? `[${name}]` : `<${name}>`, summary)
  for (const { name, summary, takesValue, isRequired } of command.options ?? []) {
    const flag = takesValue ? `--${name} <value>` : `--${name}`
    if (isRequired) own.requiredOption(flag, summary)
    else own.option(flag, summary)
  }
  own.action(async (...actionArgs: unknown[]) => {
    const values = actionArgs.slice(0, command.arguments?.length ?? 0) as string[]
    const global = program.opts<GlobalOptions>()
    const options = own.opts<Record<string, string | boolean>>()
    const asJson = global.json ?? false
    const progress = progressOn(output)
    try {
      const result = await (await command.load())({
        sources: sourcesOf(global),
        ...(host && { running: host.kernel }),
        arguments: Object.fromEntries((command.arguments ?? []).map(({ name }, at) => [name, values[at] ?? ''])),
        options: Object.fromEntries(
          (command.options ?? []).flatMap(({ name, isPath }) => {
            const value = options[camelCase(name)]
            return value === undefined ? [] : [[name, isPath ? pathFrom(host, name, String(value)) : value]]
          }),
        ),
        asJson,
        output,
        progress: progress.report,
        runLine: run,
      })
      progress.end()
      if (result !== undefined) output.out(formatted(result, asJson && typeof result !== 'string', output.columns))
      if ([result].flat().some(row => (row as { ok?: unknown } | undefined)?.ok === false)) fail()
    } finally {
      progress.end()
    }
  })
}

/** Reports a plugin command whose name is taken: all others must remain available. */
const addUnlessTaken = (program: Commander, command: BuiltIn, session: Session): void => {
  try {
    add(program, command, session)
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    session.output.err(`${error.message}\n`)
  }
}

/** Adds the commands of plugins, which requires loading the plugins; kernel commands do not. */
const addContributed = async (program: Commander, sources: ConfigSources, session: Session, isHelp: boolean): Promise<void> => {
  try {
    const { makeKernel } = await import('./kernel-session.ts')
    const { contributedCommands } = await import('./plugin-commands.ts')
    const kernel = await makeKernel({ sources, ...(session.host && { running: session.host.kernel }) })
    for (const command of contributedCommands(kernel)) addUnlessTaken(program, command, session)
  } catch (error) {
    if (!isHelp) throw error
    program.addHelpText('after', `\nPlugin commands are not available: ${messageOf(error)}`)
  }
}

/** A start refused because of a bug in a plugin's `start` or migration names its place. */
const withPlace = (error: unknown): string => {
  const message = messageOf(error)
  if (!(error instanceof StartupError && (error.cause instanceof TypeError || error.cause instanceof ReferenceError))) return message
  const place = errorPlace(error.cause)
  return message.includes(place) ? message : `${message}${place}`
}

const printError = (error: unknown, asJson: boolean, output: Output): void => {
  // An error of the operating system names the call and the path.
  const isExpected =
    error instanceof StartupError || (error instanceof Error && (('status' in error && 'code' in error) || 'syscall' in error))
  const message = withPlace(error)
  if (asJson) output.err(`${JSON.stringify({ error: message })}\n`)
  else if (isExpected || !(error instanceof Error)) output.err(`${message.split('\n').map(visible).join('\n')}\n`)
  else output.err(`${error.stack ?? error.message}\n`)
}

/** The kernel command of a command line, such as `events retry`. */
const builtInOf = (operands: readonly string[]): BuiltIn | undefined =>
  builtIns.find(({ name }) => name.split(' ').every((word, at) => operands[at] === word))

const runProgram = async (args: readonly string[], output: Output, host: CommandHost | undefined): Promise<number> => {
  let code = 0
  const fail = (): void => {
    code = 1
  }
  const session: Session = { output, host, fail }
  const { Command, CommanderError } = await import('commander')
  const program = describeProgram(new Command('pounce'), output, args.includes('--json'))
  for (const command of builtIns) if (!host || command.runsIn === 'server') add(program, command, session)
  const forUsers = host ? undefined : await addClient(program, session)
  try {
    const { operands, unknown } = program.parseOptions([...args])
    const [first = 'help'] = operands
    const isHelp = first === 'help' || first === 'completion' || unknown.includes('--help') || unknown.includes('-h')
    if (forUsers?.has(first)) {
      await program.parseAsync([...args], { from: 'user' })
      return code
    }
    const isOwn = builtIns.some(({ name }) => name.split(' ')[0] === first)
    const sources = sourcesOf(program.opts<GlobalOptions>())
    if (!host && !isHelp && (!isOwn || builtInOf(operands)?.runsIn === 'server')) {
      const { dataFolderOf } = await import('./data-folder.ts')
      const { runInServer } = await import('./command-socket.ts')
      const answered = await runInServer(await dataFolderOf(sources), args, output)
      if (answered !== undefined) return answered
    }
    if (!isOwn) await addContributed(program, sources, session, isHelp)
    await program.parseAsync([...args], { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode
    throw error
  }
}

/** Adds the commands that use a server over HTTP, and `completion`; returns the names of the former. */
const addClient = async (program: Commander, session: Session): Promise<ReadonlySet<string>> => {
  const { output } = session
  const { Argument } = await import('commander')
  const { addUserCommands } = await import('./user/commands.ts')
  program
    .command('completion')
    .description('Print a shell completion script')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', '\nFor bash: eval "$(pounce completion bash)" in ~/.bashrc')
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript } = await import('./user/completion.ts')
      output.out(completionScript(program, shell))
    })
  return addUserCommands(program, session)
}

/** The options of a simple `start` command line, for which loading Commander (10 ms) is avoided. All others are parsed by Commander. */
const plainStart = (args: readonly string[]): GlobalOptions | undefined => {
  const text = { type: 'string' } as const
  const options = { config: text, data: text, host: text, port: text, set: { ...text, multiple: true }, json: { type: 'boolean' } } as const
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    return positionals.join(' ') === 'start' ? values : undefined
  } catch {
    return undefined
  }
}

const runStart = async (options: GlobalOptions, output: Output): Promise<number> => {
  const { start } = await import('./start.ts')
  const { json: asJson = false } = options
  await start({ sources: sourcesOf(options), arguments: {}, options: {}, asJson, output, progress: () => undefined, runLine: run })
  return 0
}

/** Runs one command line, in the server of `host` if given; resolves to the exit code. */
export const run: RunLine = async (args, output, host) => {
  try {
    const options = host ? undefined : plainStart(args)
    return await (options ? runStart(options, output) : runProgram(args, output, host))
  } catch (error) {
    printError(error, args.includes('--json'), output)
    return error instanceof UsageError ? usageExitCode : 1
  }
}
