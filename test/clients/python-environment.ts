import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A package of Python that tests use, at one release. */
export interface PythonPackage {
  readonly name: string
  readonly release: string
}

const folderOf = ({ name, release }: PythonPackage): string =>
  fileURLToPath(new URL(`../../node_modules/.cache/${name}-${release}`, import.meta.url))

/** The Python that has this package. */
export const pythonWith = (wanted: PythonPackage): string => join(folderOf(wanted), 'bin', 'python')

const isComplete = (wanted: PythonPackage): boolean => existsSync(join(folderOf(wanted), 'complete'))

const lastLine = (error: unknown): string => {
  const { stderr = '', message } = error as Error & { readonly stderr?: string }
  return (stderr || message).trim().split('\n').at(-1) ?? ''
}

/**
 * Makes a virtual environment with a package, or finds the one of an earlier run. Test files that start at once do not meet: each
 * makes its own, and the first that is complete stays.
 * @returns why there is none, or undefined when it is ready
 */
export const installPython = async (wanted: PythonPackage): Promise<string | undefined> => {
  if (isComplete(wanted)) return undefined
  try {
    await run('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 6))'], { timeout: 10_000 })
  } catch {
    return 'there is no python3'
  }
  const folder = `${folderOf(wanted)}-${randomUUID()}`
  try {
    const fault = await installInto(folder, wanted)
    if (fault === undefined) await keep(folder, wanted)
    return fault
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const installInto = async (folder: string, { name, release }: PythonPackage): Promise<string | undefined> => {
  await mkdir(folder, { recursive: true })
  try {
    await run('python3', ['-m', 'venv', folder], { timeout: 60_000 })
  } catch (error) {
    return `python3 makes no virtual environment: ${lastLine(error)}`
  }
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', '--timeout', '15', '--retries', '1']
  try {
    await run(join(folder, 'bin', 'python'), [...pip, `${name}==${release}`], { timeout: 120_000 })
  } catch (error) {
    return `pip installs no ${name} ${release}: ${lastLine(error)}`
  }
  return undefined
}

const keep = async (folder: string, wanted: PythonPackage): Promise<void> => {
  await writeFile(join(folder, 'complete'), '')
  if (existsSync(folderOf(wanted)) && !isComplete(wanted)) await rm(folderOf(wanted), { recursive: true, force: true })
  try {
    await rename(folder, folderOf(wanted))
  } catch (error) {
    if (!isComplete(wanted)) throw error
  }
}
