import { Extractors } from 'pounce/sdk'
import type { Kernel } from './kernel/kernel.ts'
import { StartupError } from './kernel/startup-error.ts'

const memberOf = (one: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key], one)

/** Ports whose contributions are told apart by a name, and the member that has it. */
const nameMembers: ReadonlyMap<string, string> = new Map([[Extractors, 'info.name']])

/** Refuses contributions without the name by which everyone reads them, which would fail all others of their port, and warns of two of one name. */
export const checkContributions = (kernel: Pick<Kernel, 'config' | 'get' | 'log'>): void => {
  const owners = new Map<string, string>()
  for (const { name: plugin, plugin: definition } of kernel.config.plugins)
    for (const { port, by } of definition.provides ?? []) {
      const member = nameMembers.get(port)
      if (member === undefined) continue
      const [many, name] = [port.slice(0, -1), memberOf(kernel.get(by), member)]
      if (typeof name !== 'string' || name === '')
        throw new StartupError(
          `${plugin}: ${by.name} contributes to ${many} and has no ${member}: give it one, a text that no other one has`,
        )
      const owner = owners.get(`${port}${name}`)
      if (owner === undefined) owners.set(`${port}${name}`, plugin)
      else kernel.log.warn(`${owner} and ${plugin} both contribute "${name}" to ${many}: that of ${owner} is used`)
    }
}
