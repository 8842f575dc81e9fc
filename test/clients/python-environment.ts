import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cachedFolder, fillCached, lastLine } from './cached-folder.ts'

const run = promisify(execFile)

/** A release of a Python package used by tests. */
export interface PythonPackage {
  readonly name: string
  readonly release: string
  /** Other packages to install with it, such as `mypy==2.4.1`. */
  readonly also?: readonly string[]
}

const folderName = ({ name, release, also = [] }: PythonPackage): string => [`${name}-${release}`, ...also].join('-').replaceAll('==', '-')

/** The Python interpreter with this package. */
export const pythonWith = (wanted: PythonPackage): string => join(cachedFolder(folderName(wanted)), 'bin', 'python')

/**
 * Creates a virtual environment with a package, or reuses that of an earlier run.
 * @returns undefined when it is available, otherwise the reason why it is not
 */
export const installPython = (wanted: PythonPackage): Promise<string | undefined> =>
  fillCached(folderName(wanted), folder => installInto(folder, wanted))

const installInto = async (folder: string, { name, release, also = [] }: PythonPackage): Promise<string | undefined> => {
  try {
    await run('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 6))'], { timeout: 10_000 })
  } catch {
    return 'there is no python3'
  }
  try {
    await run('python3', ['-m', 'venv', folder], { timeout: 300_000 })
  } catch (error) {
    return `python3 makes no virtual environment: ${lastLine(error)}`
  }
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', '--timeout', '15', '--retries', '1']
  try {
    await run(join(folder, 'bin', 'python'), [...pip, `${name}==${release}`, ...also], { timeout: 300_000 })
  } catch (error) {
    return `pip installs no ${name} ${release}: ${lastLine(error)}`
  }
  return undefined
}
