import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { tempFolder } from '../../test/support/temp-folder.ts'

const main = fileURLToPath(new URL('../main.js', import.meta.url))
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(POUNCE_|CLOWDER_)/.test(name)))
const words = (...given: readonly string[]) => [main, ...given]

/** `pounce dev` in a folder, with its output. */
const developing = (t: ExecutionContext, folder: string) => {
  const child = spawn(process.execPath, words('--port', '0', 'dev'), { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close') as Promise<[number | null]>
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      child.emit('printed')
    })
  /** Waits for output that matches and was not matched before. */
  const prints = async (expression: RegExp): Promise<string> => {
    for (;;) {
      const found = expression.exec(printed)
      if (found) {
        printed = printed.slice(found.index + found[0].length)
        return found[1] ?? found[0]
      }
      const isOver = await Promise.race([once(child, 'printed').then(() => false), ended.then(() => true)])
      if (isOver) throw new Error(`It ended without ${expression}: ${printed}`)
    }
  }
  return { prints, ended, interrupt: () => child.kill('SIGINT') }
}

test('a plugin is run, and restarted on every change, even after one that broke it', async t => {
  const folder = join(await tempFolder(t), 'pounce-tides')
  const [made] = (await once(spawn(process.execPath, words('plugin', 'new', 'routes', folder), { env: environment }), 'close')) as [number]
  t.is(made, 0)
  const { prints, ended, interrupt } = developing(t, folder)
  t.regex(await prints(/Sign in as (.*)/), /^dev@example\.org with the password \S+$/)
  const url = await prints(/listens on (http:\S+)/)
  t.is((await fetch(`${url}/api/tides/notes`)).status, 401)

  const routes = join(folder, 'src/routes.ts')
  const source = await readFile(routes, 'utf8')
  await writeFile(routes, `${source}\nthrow new Error('not today')\n`)
  // The last of several changes is printed; the files of `npm run dev > dev.log` and `npm pack` are ignored.
  for (const name of ['dev.log', 'pounce-tides-0.1.0.tgz']) await writeFile(join(folder, name), name)
  await prints(/src.routes\.ts changed; restarting/)
  const lines = source.split('\n').length
  t.regex(await prints(/cannot be loaded: (.*)/), new RegExp(`^not today \\(.*routes\\.ts:${lines + 1}\\)`))
  await prints(/waiting for a change/)

  await writeFile(routes, source.replaceAll('/api/tides/notes', '/api/tides/jottings'))
  await prints(/src.routes\.ts changed; restarting/)
  const again = await prints(/listens on (http:\S+)/)
  t.is((await fetch(`${again}/api/tides/jottings`)).status, 401)
  t.is((await fetch(`${again}/api/tides/notes`)).status, 404)

  interrupt()
  t.is((await ended)[0], 0)
  await t.throwsAsync(fetch(`${again}/healthz`))
})

test('a folder without a plugin is refused', async t => {
  const { prints, ended } = developing(t, await tempFolder(t))
  await prints(/has no src\/index\.ts: run this in the folder of a plugin, or create one with pounce plugin new/)
  t.is((await ended)[0], 1)
})
