import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder in which installations for tests are cached between runs. */
export const cachedFolder = (name: string): string => fileURLToPath(new URL(`../../node_modules/.cache/${name}`, import.meta.url))

const isComplete = (name: string): boolean => existsSync(join(cachedFolder(name), 'complete'))

/**
 * Fills a cached folder, or reuses that of an earlier run. Test files that start concurrently do not conflict: each fills a folder of its own, and
 * the first complete one is kept.
 * @param fill returns why it cannot, or undefined when the folder is filled
 * @returns the same
 */
export const fillCached = async (name: string, fill: (folder: string) => Promise<string | undefined>): Promise<string | undefined> => {
  if (isComplete(name)) return undefined
  const folder = `${cachedFolder(name)}-${randomUUID()}`
  try {
    await mkdir(folder, { recursive: true })
    const fault = await fill(folder)
    if (fault === undefined) await keep(folder, name)
    return fault
  } finally {
    // An installer that was stopped may have child processes that still write.
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 })
  }
}

const keep = async (folder: string, name: string): Promise<void> => {
  await writeFile(join(folder, 'complete'), '')
  if (existsSync(cachedFolder(name)) && !isComplete(name)) await rm(cachedFolder(name), { recursive: true, force: true })
  try {
    await rename(folder, cachedFolder(name))
  } catch (error) {
    if (!isComplete(name)) throw error
  }
}

/** The last output of an installer. */
export const lastLine = (error: unknown): string => {
  const { stderr = '', message } = error as Error & { readonly stderr?: string }
  return (stderr || message).trim().split('\n').at(-1) ?? ''
}
