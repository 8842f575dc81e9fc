import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from './server-bundle.ts'

/** Whether a command runs a server until interrupted. */
export const isServing = (command: string): boolean => /\bnpm run dev$|\bpounce start$/.test(command)

/** The commands of `docs/first-plugin.md` in their order. */
export const guideCommands = async (): Promise<readonly string[]> => {
  const guide = await readFile(join(root, 'docs/first-plugin.md'), 'utf8')
  const blocks = [...guide.matchAll(/```console\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  return blocks.flatMap(block => [...block.matchAll(/^\$ (.+)$/gm)].map(([, command = '']) => command))
}

/** A server started by a command of the guide. */
export interface Served {
  readonly url: string
  /** Interrupts it like Ctrl-C; rejects unless it exits cleanly. */
  interrupt(): Promise<void>
}

/** Runs a command that serves until interrupted; resolves once it reports its address. */
export const serveBy = async (cwd: string, command: string, env: NodeJS.ProcessEnv): Promise<Served> => {
  // In its own process group: a terminal interrupts all processes of the group, including npm.
  const child = spawn('sh', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const ended = once(child, 'close')
  let printed = ''
  child.stderr.on('data', (text: Buffer) => {
    printed += text
  })
  for await (const line of createInterface({ input: child.stdout })) {
    printed += `${line}\n`
    const url = /listens on (http:\S+)/.exec(line)?.[1]
    if (url === undefined) continue
    child.stdout.resume()
    const interrupt = async (): Promise<void> => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
      await ended
      await fetch(`${url}/healthz`).then(
        () => {
          throw new Error(`${command} still responds after Ctrl-C`)
        },
        () => undefined,
      )
    }
    return { url, interrupt }
  }
  throw new Error(`${command} ended: ${printed}`)
}
