import { type Command, DocumentStore, Invalid } from 'pounce/sdk'
import type { Kernel } from '../kernel/kernel.ts'
import { messageOf, StartupError } from '../kernel/startup-error.ts'
import { separateDataIn } from '../services/separate-data.ts'
import type { BuiltIn } from './built-in.ts'
import { withKernel } from './kernel-session.ts'

type Row = Readonly<Record<string, unknown>>

const maxDeadLetters = 1000

/** The kernel's part of `pounce doctor`: plugin health, migrations and dead letters. */
const kernelDoctor = (kernel: Kernel): Command => ({
  name: 'doctor',
  summary: 'Check the installation for problems; changes nothing without an option',
  async run(_input, progress) {
    progress('plugins')
    const { plugins } = await kernel.readiness()
    const rows: Row[] = plugins.map(({ id, ok, message }) => ({
      check: `plugin ${id}`,
      ok,
      ...(message === undefined ? {} : { detail: message }),
    }))
    if (!kernel.outbox) return rows
    progress('events')
    const waiting = Object.values(await kernel.outbox.waiting()).reduce((sum, count) => sum + count, 0)
    const deadLetters = (await kernel.outbox.deadLetters({ limit: maxDeadLetters })).length
    const absent = (await kernel.absentConsumers()).map(({ consumer, waiting, kept, remedy }) => ({
      check: `consumer ${consumer}`,
      ok: waiting === 0,
      detail: `${kept}; ${remedy}`,
    }))
    progress('migrations')
    const open = (await kernel.migrations.status()).filter(({ state }) => state !== 'applied')
    const detail = open.map(({ plugin, name, state }) => `${plugin}/${name} ${state}`).join(', ')
    const separate = await separateDataIn(kernel.get(DocumentStore), kernel.config)
    const put = deadLetters === 0 ? `${waiting} waiting` : `${deadLetters} dead letters: see \`pounce events dead-letters\``
    return [
      ...rows,
      { check: 'migrations', ok: open.length === 0, ...(detail === '' ? {} : { detail }) },
      { check: 'events', ok: deadLetters === 0, detail: put },
      ...absent,
      // Not a failure: installations without data of these plugins run so.
      ...(separate === undefined ? [] : [{ check: 'data folders', ok: true, detail: `warning: ${separate}` }]),
    ]
  },
})

/** A check that fails, such as one of a damaged store, must not hide the results of the others. */
const failing = (error: unknown): Row => {
  if (error instanceof Invalid) throw error
  return { check: 'failed check', ok: false, detail: messageOf(error) }
}

const unique = <T extends { readonly name: string }>(items: readonly T[]): T[] => [
  ...new Map(items.map(item => [item.name, item])).values(),
]

/** Several plugins may contribute to one command, such as `doctor`: their options are merged and their results concatenated. */
const merged = (parts: readonly Command[], kernel: Kernel, own: Command): BuiltIn => {
  const [first] = parts as [Command]
  return {
    name: first.name,
    summary: first.summary,
    runsIn: 'server',
    arguments: unique(parts.flatMap(part => part.arguments ?? [])),
    options: unique(parts.flatMap(part => part.options ?? [])),
    load: async () => context =>
      withKernel(context, kernel, { until: 'plugins', creates: first.createsInstallation }, async () => {
        const input = { arguments: context.arguments, options: context.options }
        const results: (Row | readonly Row[])[] = []
        // Only now is it known which plugins are switched off.
        const running = parts.filter(part => part === own || kernel.commands.includes(part))
        if (running.length === 0)
          throw new StartupError(`The plugin of the command ${first.name} is switched off: see \`pounce plugin list\``)
        for (const part of running) {
          const result = part.run(input, message => context.progress(message))
          results.push(await (parts.includes(own) ? result.catch(failing) : result))
        }
        return parts.length === 1 ? results[0] : results.flat()
      }),
  }
}

/** The plugin commands of a kernel that has not been started. */
export const contributedCommands = (kernel: Kernel): BuiltIn[] => {
  const byName = new Map<string, Command[]>()
  const own = kernelDoctor(kernel)
  for (const command of [own, ...kernel.commands]) byName.set(command.name, [...(byName.get(command.name) ?? []), command])
  return [...byName.values()].map(parts => merged(parts, kernel, own))
}
