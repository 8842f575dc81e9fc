import { spawnSync } from 'node:child_process'
import { access, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from './until.ts'

const source = fileURLToPath(new URL('./failing-sync.c', import.meta.url))

/** Why failing syncs cannot be injected on this machine; undefined if they can. */
export const lacking =
  process.platform !== 'linux'
    ? 'syncs are made to fail on Linux only'
    : spawnSync('cc', ['--version']).status === 0
      ? undefined
      : 'no C compiler: cc is not installed'

/** Injects failures into syncs of a child server's files. */
export interface FailingSync {
  /** Settings for the server. */
  readonly environment: Readonly<Record<string, string>>
  /** Makes the next syncs of files whose path ends with `end` fail. */
  failNext(count: number, end: string): Promise<void>
  /** Resolves when all of them have failed. */
  haveFailed(): Promise<void>
}

/** Compiles the library that is preloaded into the server, into a folder that the caller removes. */
export const failingSync = async (folder: string): Promise<FailingSync> => {
  const place = await mkdtemp(join(folder, 'failing-sync-'))
  const library = join(place, 'failing-sync.so')
  const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`failing-sync.c does not compile: ${stderr}`)
  const order = join(place, 'order')
  const isOver = (): Promise<boolean> =>
    access(order).then(
      () => false,
      () => true,
    )
  return {
    environment: { LD_PRELOAD: library, FAILING_SYNC: order },
    failNext: (count, end) => writeFile(order, `${count} ${end}`),
    haveFailed: async () => {
      await until('the syncs to fail', isOver, Boolean)
    },
  }
}
