import { writeFile } from 'node:fs/promises'
import { type PluginState, PluginSwitch } from 'pounce/sdk/kit'
import { routesOf } from '../kernel/plugin-graph.ts'
import { StartupError } from '../kernel/startup-error.ts'
import { sourceOf } from '../plugin-source.ts'
import { commandSocket } from '../services/data-lock.ts'
import { programVersion } from '../services/installation.ts'
import type { RunCommand } from './built-in.ts'
import { dataFolderOf } from './data-folder.ts'
import { makeKernel, readConfig, withKernel } from './kernel-session.ts'

/** `pounce config print`: always JSON, so that the output can be used as a configuration file. */
export const printConfig: RunCommand = async ({ sources, output }) => {
  const config = await readConfig(sources)
  for (const warning of config.warnings) output.err(`${warning}\n`)
  return JSON.stringify(config.print(), null, 2)
}

/** `pounce config check`: validates everything that a start checks before it accesses data. */
export const checkConfig: RunCommand = async ({ sources, output }) => {
  const kernel = await makeKernel({ sources })
  for (const warning of kernel.config.warnings) output.err(`${warning}\n`)
  await kernel.openapi()
  // If all stores are remote, the kernel of a command uses a temporary data folder.
  const data = await dataFolderOf(sources)
  return { ok: true, plugins: kernel.config.plugins.length, data, warnings: kernel.config.warnings.length }
}

const onOrOff = (isOn: boolean): string => (isOn ? 'on' : 'off')

const stateOf = ({ isEnabled, isRunning }: PluginState): string =>
  isEnabled === isRunning ? onOrOff(isRunning) : `${onOrOff(isRunning)}, ${onOrOff(isEnabled)} after a restart`

const healthOf = ({ isRunning, isHealthy, message }: PluginState): string => {
  if (!isRunning) return ''
  return isHealthy ? 'ok' : (message ?? 'not ok')
}

/** `pounce plugin list`: with state and health if a server is running. */
export const listPlugins: RunCommand = async ({ running, asJson, ...context }) => {
  const { graph: plan, config } = await makeKernel({ ...context, ...(running && { running }) })
  const states = new Map((await running?.get(PluginSwitch).list())?.map(one => [one.id, one]))
  return Promise.all(
    plan.order.map(async ({ name, plugin, provides, needs }) => {
      const state = states.get(name)
      const { source, version = '' } = await sourceOf(config.plugins.find(one => one.name === name)?.request)
      return {
        plugin: name,
        ...(state ? { state: stateOf(state), health: healthOf(state) } : {}),
        version,
        source,
        switchable: plugin.isSwitchable ?? false,
        routes: routesOf(plugin).length,
        summary: plugin.summary,
        provides: [...new Set(provides.map(({ port }) => port.split('/')[0]))],
        ...(asJson ? { needs } : {}),
      }
    }),
  )
}

const switching =
  (isEnabled: boolean): RunCommand =>
  async context => {
    const kernel = await makeKernel(context)
    const { plugin = '' } = context.arguments
    return withKernel(context, kernel, { until: 'store' }, async () => {
      const state = await kernel.get(PluginSwitch).set(plugin, isEnabled)
      return { plugin, state: context.running ? stateOf(state) : `${onOrOff(state.isEnabled)} after the next start` }
    })
  }

/** `pounce plugin on`. */
export const switchOn = switching(true)

/** `pounce plugin off`. */
export const switchOff = switching(false)

/** `pounce status`. */
export const showStatus: RunCommand = async ({ running, sources }) => {
  if (!running) {
    const data = await dataFolderOf(sources)
    throw new StartupError(
      commandSocket(data) === undefined
        ? `Commands cannot reach a server on the data folder ${data}: its path is too long for a socket, or this system has none`
        : `No server runs on the data folder ${data}`,
    )
  }
  const { ready, waiting, parked: deadLetters, plugins } = await running.readiness()
  const ill = plugins.filter(({ ok }) => !ok).map(({ id, message }) => `${id}: ${message ?? 'not ok'}`)
  return {
    version: programVersion,
    url: running.address?.url ?? 'serves no HTTP',
    data: running.config.kernel.data,
    process: process.pid,
    uptimeSeconds: Math.round(process.uptime()),
    memoryMiB: Math.round(process.memoryUsage.rss() / 2 ** 20),
    ready,
    plugins: plugins.length,
    ...(ill.length > 0 && { unhealthyPlugins: ill }),
    waitingEvents: waiting ?? 0,
    failedEvents: deadLetters ?? 0,
  }
}

/** `pounce openapi`. */
export const writeOpenapi: RunCommand = async context => {
  const document = `${JSON.stringify(await (await makeKernel(context)).openapi(), null, 2)}`
  const { out } = context.options
  if (typeof out !== 'string') return document
  await writeFile(out, `${document}\n`)
  return { written: out }
}
