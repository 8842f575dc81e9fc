import { isPlain, type Pump, patternOf, pumpsOf } from './pumps.ts'

const maxCharacters = 16 * 1024
const maxMs = 5
const attempts = 8
/** Whatever took this long three times is slow, and not only disturbed. */
const longMs = 50
const negligibleMs = 0.3
/** What takes less for 4 kB takes less than 5 ms for four times as much, even if its time grows with the third power. */
const harmlessMs = 0.05
const sampleCharacters = 4096
/** Few at first, and few more each time: exponential time is detected before it takes forever. */
const lengths = [8, 12, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 48, 64, 128, 256, 1024, 2048, 4096, 8192]

/** What an expression takes too long for, in words; undefined when no string was found. */
export const slowString = (source: string, flags: string): string | undefined => {
  const pattern = patternOf(source, flags)
  if (isPlain(pattern)) return undefined
  const expression = new RegExp(source, flags)
  for (const pump of pumpsOf(pattern, flags)) {
    const whole = Math.floor((maxCharacters - pump.prefix.length - pump.suffix.length) / pump.pump.length)
    const fewer = lengths.map(length => Math.ceil(length / pump.pump.length)).filter(count => count < whole)
    let before = 0
    let tried = 0
    for (const count of new Set([...fewer, whole])) {
      const characters = count * pump.pump.length
      if (tried >= sampleCharacters && before < harmlessMs) break
      // What is so fast for a few hundred characters cannot hang for all: no need to go there in small steps.
      const isSmallStep = characters > 1024 && count < whole && (characters < sampleCharacters || tried >= sampleCharacters)
      if (isSmallStep && before < negligibleMs) continue
      const ms = bestMs(expression, textOf(pump, count))
      before = ms
      tried = characters
      if (ms > maxMs) return `${ms.toFixed(1)} ms for ${shown(pump, count)}`
    }
  }
  return undefined
}

const textOf = ({ prefix, pump, suffix }: Pump, count: number): string => prefix + pump.repeat(Math.max(0, count)) + suffix

const shown = ({ prefix, pump, suffix }: Pump, count: number): string =>
  `${JSON.stringify(prefix)} + ${JSON.stringify(pump)}.repeat(${count}) + ${JSON.stringify(suffix)}`

/** CPU time of this thread, in ms: others use this machine as well. Reading it takes longer than most expressions do. */
const cpuMs = (): number => process.threadCpuUsage().user / 1000

/** No more than what it took on the clock, which is read first: only what took too long by that is measured. */
const wallMs = (expression: RegExp, text: string): number => {
  const started = performance.now()
  use(expression, text)
  return performance.now() - started
}

/** The best of several runs, as long as all are too slow: garbage is collected in some. */
const bestMs = (expression: RegExp, text: string): number => {
  let best = wallMs(expression, text)
  for (let attempt = 0; attempt < (best > longMs ? 3 : attempts) && best > maxMs; attempt++) {
    const started = cpuMs()
    use(expression, text)
    best = Math.min(best, cpuMs() - started)
  }
  return best
}

/** As `replace` and `split` use it, and with it `exec` and `test`: these stop at the first match, where the others continue to the end. */
const use = (expression: RegExp, text: string): void => {
  expression.lastIndex = 0
  if (expression.global) text.replace(expression, '')
  else if (expression.sticky) expression.exec(text)
  else text.split(expression, 1_000_000)
}
