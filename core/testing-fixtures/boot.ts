import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Plugin } from 'pounce/sdk'
import type { Settings } from '../config/schema-tree.ts'
import { loadConfig } from '../config.ts'
import { bootKernel, type Kernel } from '../kernel.ts'
import type { KernelOptions } from '../kernel-options.ts'
import { createLog, type KernelLog } from '../log.ts'

/** A log whose lines are kept as objects. */
export const keptLog = (): { readonly log: KernelLog; readonly lines: Record<string, unknown>[] } => {
  const lines: Record<string, unknown>[] = []
  const stream = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) }
  return { log: createLog({ level: 'debug', stream: { write: line => void stream.write(line) } }), lines }
}

/** A folder that is gone after the test. */
export const tempFolder = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-core-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A kernel on the given plugins that serves no HTTP, stopped after the test. */
export const makeKernel = async (
  t: ExecutionContext,
  plugins: readonly Plugin[],
  { settings = {}, ...options }: KernelOptions & { readonly settings?: Settings } = {},
): Promise<Kernel> => {
  const base: Settings = { data: await tempFolder(t), roles: ['worker'], log: { level: 'silent' } }
  const config = await loadConfig({ defaults: {}, plugins, settings: { ...base, ...settings } })
  const kernel = await bootKernel(config, options)
  t.teardown(() => kernel.stop())
  return kernel
}
