import { writeFile } from 'node:fs/promises'
import { loadConfig } from '../kernel/config.ts'
import { routesOf } from '../kernel/plugin-graph.ts'
import { StartupError } from '../kernel/startup-error.ts'
import { programVersion } from '../services/installation.ts'
import type { RunCommand } from './built-in.ts'
import { commandSocket } from './command-socket.ts'
import { makeKernel } from './kernel-session.ts'

/** `pounce config print`: always JSON, so that it can be kept as a configuration file. */
export const printConfig: RunCommand = async ({ sources, output }) => {
  const config = await loadConfig(sources)
  for (const warning of config.warnings) output.err(`${warning}\n`)
  return JSON.stringify(config.print(), null, 2)
}

/** `pounce config check`: everything a start would refuse before it touches any data. */
export const checkConfig: RunCommand = async ({ sources, output }) => {
  const kernel = await makeKernel({ sources })
  for (const warning of kernel.config.warnings) output.err(`${warning}\n`)
  await kernel.openapi()
  return { ok: true, plugins: kernel.config.plugins.length, data: kernel.config.kernel.data, warnings: kernel.config.warnings.length }
}

/** `pounce plugin list`: with the health of each when a server runs. */
export const listPlugins: RunCommand = async ({ running, asJson, ...context }) => {
  const { plan } = await makeKernel({ ...context, ...(running && { running }) })
  const health = new Map((await running?.readiness())?.plugins.map(one => [one.id, one.ok ? 'ok' : (one.message ?? 'not ok')]))
  return plan.order.map(({ name, plugin, provides, needs }) => ({
    plugin: name,
    ...(running ? { health: health.get(name) ?? 'ok' } : {}),
    routes: routesOf(plugin).length,
    summary: plugin.summary,
    provides: [...new Set(provides.map(({ port }) => port))],
    ...(asJson ? { needs } : {}),
  }))
}

/** `pounce status`. */
export const showStatus: RunCommand = async ({ running, sources }) => {
  if (!running) {
    const { dataFolderOf } = await import('./data-folder.ts')
    const data = await dataFolderOf(sources)
    throw new StartupError(
      commandSocket(data) === undefined
        ? `Commands cannot reach a server on the data folder ${data}: its path is too long for a socket, or this system has none`
        : `No server runs on the data folder ${data}`,
    )
  }
  const { ready, waiting, parked, plugins } = await running.readiness()
  const ill = plugins.filter(({ ok }) => !ok).map(({ id, message }) => `${id}: ${message ?? 'not ok'}`)
  return {
    version: programVersion,
    url: running.address?.url ?? 'serves no HTTP',
    data: running.config.kernel.data,
    process: process.pid,
    uptimeSeconds: Math.round(process.uptime()),
    memoryMiB: Math.round(process.memoryUsage.rss() / 2 ** 20),
    ready,
    plugins: `${plugins.length}${ill.length === 0 ? '' : `, not ok: ${ill.join('; ')}`}`,
    waitingEvents: waiting ?? 0,
    failedEvents: parked ?? 0,
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
