import { writeFile } from 'node:fs/promises'
import { loadConfig } from '../kernel/config.ts'
import { routesOf } from '../kernel/plugin-graph.ts'
import type { RunCommand } from './built-in.ts'
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

/** `pounce plugin list`. */
export const listPlugins: RunCommand = async context => {
  const { plan } = await makeKernel(context)
  return plan.order.map(({ name, plugin, provides, needs }) => ({
    plugin: name,
    summary: plugin.summary,
    routes: routesOf(plugin).length,
    provides: [...new Set(provides.map(({ port }) => port))],
    ...(context.asJson ? { needs } : {}),
  }))
}

/** `pounce openapi`. */
export const writeOpenapi: RunCommand = async context => {
  const document = `${JSON.stringify(await (await makeKernel(context)).openapi(), null, 2)}`
  const { out } = context.options
  if (typeof out !== 'string') return document
  await writeFile(out, `${document}\n`)
  return { written: out }
}
