import { routesOf } from '../kernel/plugin-graph.ts'
import type { Run } from './built-in.ts'
import { makeKernel } from './kernel-session.ts'

/** `pounce plugin list`. */
export const listPlugins: Run = async context => {
  const { plan } = await makeKernel(context)
  return plan.order.map(({ name, plugin, provides, needs }) => ({
    plugin: name,
    summary: plugin.summary,
    routes: routesOf(plugin).length,
    provides: [...new Set(provides.map(({ port }) => port))],
    ...(context.asJson ? { needs } : {}),
  }))
}
