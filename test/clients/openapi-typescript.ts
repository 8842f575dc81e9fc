import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cachedFolder, fillCached, lastLine } from './cached-folder.ts'

const run = promisify(execFile)

/** openapi-typescript requires an older TypeScript than ours, so it is not one of our dependencies. */
const packages = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3']
const name = 'openapi-typescript-7.13.0'

/** Undefined when it is available, otherwise the reason why it is not. */
export const installOpenapiTypescript = (): Promise<string | undefined> =>
  fillCached(name, async folder => {
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--fetch-retries=1', '--fetch-timeout=15000']
    try {
      await run('npm', ['install', ...quiet, ...packages], { cwd: folder, timeout: 120_000 })
    } catch (error) {
      return `npm installs no openapi-typescript: ${lastLine(error)}`
    }
    return undefined
  })

const programOf = (program: string): string => join(cachedFolder(name), 'node_modules', '.bin', program)

/** Generates types from a document. */
export const generateTypes = async (document: string, types: string): Promise<void> => {
  await run(programOf('openapi-typescript'), [document, '--output', types], { timeout: 60_000 })
}

/** The folder in which the modules of a generated client are resolved. */
export const clientModules = join(cachedFolder(name), 'node_modules')

/** Compiles the TypeScript files of a folder in strict mode; resolves to the output of the compiler. */
export const compileErrors = async (folder: string, ...files: readonly string[]): Promise<string> => {
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom']
  try {
    await run(programOf('tsc'), [...options, ...files], { cwd: folder, timeout: 120_000 })
    return ''
  } catch (error) {
    const { stdout = '', message } = error as Error & { readonly stdout?: string }
    return stdout || message
  }
}
