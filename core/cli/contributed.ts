import type { Command } from 'pounce/sdk'
import type { Kernel } from '../kernel/kernel.ts'
import type { BuiltIn } from './built-in.ts'
import { kernelDoctor } from './doctor.ts'
import { withKernel } from './kernel-session.ts'

type Row = Readonly<Record<string, unknown>>

const unique = <T extends { readonly name: string }>(items: readonly T[]): T[] => [
  ...new Map(items.map(item => [item.name, item])).values(),
]

/** Several plugins may have a part in one command, such as `doctor`: their options are joined and their results follow each other. */
const merged = (parts: readonly Command[], kernel: Kernel): BuiltIn => {
  const [first] = parts as [Command]
  return {
    name: first.name,
    summary: first.summary,
    arguments: unique(parts.flatMap(part => part.arguments ?? [])),
    options: unique(parts.flatMap(part => part.options ?? [])),
    load: async () => context =>
      withKernel(kernel, 'plugins', async () => {
        const input = { arguments: context.arguments, options: context.options }
        const results: (Row | readonly Row[])[] = []
        for (const part of parts) results.push(await part.run(input, message => context.progress(message)))
        return parts.length === 1 ? results[0] : results.flat()
      }),
  }
}

/** The commands of the plugins of a kernel that is not started yet. */
export const contributedCommands = (kernel: Kernel): BuiltIn[] => {
  const byName = new Map<string, Command[]>()
  for (const command of [kernelDoctor(kernel), ...kernel.commands]) byName.set(command.name, [...(byName.get(command.name) ?? []), command])
  return [...byName.values()].map(parts => merged(parts, kernel))
}
