import test from 'ava'
import type { UserContext } from './command-context.ts'
import { TransferProgress } from './transfer-progress.ts'

/** A transfer on a terminal, its clock, and the lines of its progress. */
const transfer = () => {
  const lines: string[] = []
  const clock = { ms: 0 }
  const context = {
    arguments: [],
    options: {},
    asJson: false,
    output: { isTerminal: true, out: () => undefined, err: () => undefined },
    progress: { report: (line: string) => lines.push(line), end: () => undefined },
    fail: () => undefined,
  } as unknown as UserContext
  return { clock, lines, progress: new TransferProgress(context, () => clock.ms) }
}
const secondsLeft = (line = ''): number => {
  const [, hours = '0', minutes, seconds] = / {2}(?:(\d+):)?(\d+):(\d\d) left/.exec(line) ?? []
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}

test('the remaining time of many small files and a few large ones is that of both', t => {
  const { clock, lines, progress } = transfer()
  progress.expect(1503, 900_000_000 + 1500 * 700)
  for (let file = 0; file < 150; file += 1) {
    clock.ms += 80
    progress.move(700)
    progress.result({ path: `${file}.csv`, state: 'uploaded' })
  }
  // 1,350 files at 12.5 per second, and 900 MB at about 50 MB per second.
  const left = secondsLeft(lines.at(-1))
  t.true(left > 60 && left < 300, lines.at(-1))
  t.regex(lines.at(-1) ?? '', /^ {2}0 % .* 10\d\.\d kB of 901\.0 MB {2}8\.\d kB\/s .* of 1503 files$/)
})

test('the remaining time of one file is that of its bytes', t => {
  const { clock, lines, progress } = transfer()
  progress.expect(1, 1_000_000_000)
  for (let part = 0; part < 100; part += 1) {
    clock.ms += 100
    progress.move(5_000_000)
  }
  t.is(secondsLeft(lines.at(-1)), 10)
  t.regex(lines.at(-1) ?? '', / 50 % .* 500\.0 MB of 1\.0 GB {2}50\.0 MB\/s /)
})

test('files that need no transfer do not shorten the remaining time of the others', t => {
  const { clock, lines, progress } = transfer()
  progress.expect(1001, 100_000_000 + 1000)
  for (let file = 0; file < 1000; file += 1) {
    progress.skip(1)
    progress.result({ path: `${file}.csv`, state: 'unchanged' })
  }
  for (let part = 0; part < 10; part += 1) {
    clock.ms += 1000
    progress.move(1_000_000)
  }
  t.is(secondsLeft(lines.at(-1)), 91)
})
