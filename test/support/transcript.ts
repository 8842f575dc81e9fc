import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** One command of the transcript and its expected output, where `…` matches anything. */
export interface Step {
  readonly line: number
  readonly command: string
  readonly promised: string
}

/** The commands of the first shell block of a document. */
export const transcript = (document: string): readonly Step[] => {
  const block = /```sh\n([\s\S]*?)```/.exec(document)
  if (!block) throw new Error('The document has no transcript')
  const steps: { line: number; command: string; promised: string }[] = []
  const first = document.slice(0, block.index).split('\n').length + 1
  for (const [at, line] of (block[1] ?? '').split('\n').entries()) {
    const last = steps.at(-1)
    if (line.startsWith('#> ')) {
      if (last) last.promised += `${line.slice(3)}\n`
    } else if (last?.command.endsWith('\\')) last.command += `\n${line}`
    else if (line !== '' && !line.startsWith('#')) steps.push({ line: first + at, command: line, promised: '' })
  }
  return steps
}

const pattern = (promised: string): RegExp =>
  new RegExp(
    `^${promised
      .trim()
      .split('…')
      .map(piece => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^]*?')}$`,
  )

/**
 * Runs the commands in one shell that stops at the first failure; resolves to the standard output of each, and of `last`. Errors follow the last
 * output of a failed run: of a slow one, they contain progress.
 */
export const replay = async (steps: readonly Step[], variables: Readonly<Record<string, string>>, last: string) => {
  const mark = '=== '
  const script = [
    'set -euo pipefail',
    ...steps.map(({ command }, at) => `echo; echo '${mark}${at}'\n${command}`),
    `echo; echo '${mark}'`,
    last,
  ]
  const shell = spawn('bash', ['-c', script.join('\n')], { cwd: root, env: { ...process.env, ...variables } })
  const [output, errors, [code]] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    once(shell, 'close') as Promise<[number | null]>,
  ])
  // CSV has CRLF line endings, which a terminal shows like LF.
  const parts = (code === 0 ? output : `${output}${errors}`)
    .replaceAll('\r\n', '\n')
    .split(/^=== \d*\n/m)
    .slice(1)
  return { code, outputs: parts.map(part => part.trim()) }
}

/** Asserts that each output matches the document. */
export const asPromised = (t: ExecutionContext, steps: readonly Step[], outputs: readonly string[], document: string): void => {
  for (const [at, { line, promised }] of steps.entries())
    if (promised !== '') t.regex(outputs[at] ?? 'nothing: an earlier command failed', pattern(promised), `${document}, line ${line}`)
}

/** The option `--fail-with-body` requires curl 7.76. */
export const lacksCurl = (): string | undefined => {
  const [, major = '', minor = ''] = /^curl (\d+)\.(\d+)/.exec(spawnSync('curl', ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? []
  return Number(major) * 1000 + Number(minor) >= 7076 ? undefined : 'there is no curl 7.76 or newer'
}
