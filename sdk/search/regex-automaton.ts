import { type Regex, regexLimits } from './regex.ts'

/** A regular expression would need too many states. */
export class TooComplex extends Error {
  override readonly name = 'TooComplex'
}

type Range = readonly [from: number, to: number]
interface Step {
  readonly to: number
  readonly ranges: readonly Range[]
  readonly isNegated: boolean
}

const lastPoint = 0x10ffff
const maxSteps = 4 * regexLimits.states
/** Maximum work of determinization, in transitions: about 50 ms. */
const maxWork = 1_000_000

/** The expression as an NFA with epsilon transitions; state 0 is the start. */
class Machine {
  readonly steps: Step[][] = [[]]
  readonly free: number[][] = [[]]
  readonly end: number

  constructor(regex: Regex) {
    this.end = this.#add(regex, 0)
  }

  /** Builds a part starting at a state, and returns its end state. */
  #add(regex: Regex, from: number): number {
    switch (regex.is) {
      case 'text':
        return [...regex.text].map(char => char.codePointAt(0) ?? 0).reduce((at, point) => this.#step(at, [[point, point]], false), from)
      case 'any':
        return this.#step(from, [], true)
      case 'class':
        return this.#step(from, regex.ranges, regex.isNegated)
      case 'sequence':
        return regex.of.reduce((at, part) => this.#add(part, at), from)
      case 'either': {
        const ends = regex.of.map(part => this.#add(part, this.#state(from)))
        return this.#state(...ends)
      }
      case 'repeat':
        return this.#repeat(regex, from)
    }
  }

  #repeat({ what, from: min, to: max }: Extract<Regex, { is: 'repeat' }>, from: number): number {
    let at = from
    for (let n = 0; n < min; n += 1) at = this.#add(what, at)
    if (max === undefined) {
      const start = this.#state(at)
      this.#free(this.#add(what, start), start)
      return this.#state(start)
    }
    const ends = [at]
    for (let n = min; n < max; n += 1) {
      at = this.#add(what, this.#state(at))
      ends.push(at)
    }
    return this.#state(...ends)
  }

  #step(from: number, ranges: readonly Range[], isNegated: boolean): number {
    const to = this.#state()
    this.steps[from]?.push({ to, ranges, isNegated })
    return to
  }

  /** A new state with epsilon transitions from these. */
  #state(...from: readonly number[]): number {
    if (this.steps.length >= maxSteps) throw new TooComplex('The regular expression has too many parts')
    const state = this.steps.push([]) - 1
    this.free.push([])
    for (const each of from) this.#free(each, state)
    return state
  }

  #free(from: number, to: number): void {
    this.free[from]?.push(to)
  }
}

/** Decides in linear time whether a word matches. Throws `TooComplex` if the automaton would exceed `regexLimits.states` states. */
export class RegexAutomaton {
  /** First code points of the character classes that the expression distinguishes. */
  readonly #classes: readonly number[]
  readonly #moves: (readonly number[])[] = []
  readonly #isEnd: boolean[] = []

  constructor(regex: Regex) {
    const machine = new Machine(regex)
    this.#classes = classesOf(machine)
    this.#determine(machine)
  }

  fits(word: string): boolean {
    let state = 0
    for (const char of word) {
      state = this.#moves[state]?.[this.#classOf(char.codePointAt(0) ?? 0)] ?? -1
      if (state < 0) return false
    }
    return this.#isEnd[state] === true
  }

  #determine(machine: Machine): void {
    const known = new Map<string, number>()
    const waiting: (readonly number[])[] = []
    let work = 0
    const stateOf = (states: readonly number[]): number => {
      if (states.length === 0) return -1
      const closed = closure(machine, states)
      const key = closed.join(' ')
      const old = known.get(key)
      if (old !== undefined) return old
      if (known.size >= regexLimits.states) throw new TooComplex('The regular expression has too many alternatives')
      known.set(key, known.size)
      waiting.push(closed)
      return known.size - 1
    }
    stateOf([0])
    for (let at = 0; at < waiting.length; at += 1) {
      const states = waiting[at] ?? []
      const steps = states.flatMap(state => machine.steps[state] ?? [])
      work += (steps.length + 1) * this.#classes.length
      if (work > maxWork) throw new TooComplex('The regular expression has too many alternatives')
      this.#isEnd.push(states.includes(machine.end))
      this.#moves.push(this.#classes.map(point => stateOf(steps.filter(step => takes(step, point)).map(({ to }) => to))))
    }
  }

  #classOf(point: number): number {
    let [low, high] = [0, this.#classes.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#classes[middle] ?? lastPoint) <= point) low = middle
      else high = middle - 1
    }
    return low
  }
}

const takes = ({ ranges, isNegated }: Step, point: number): boolean =>
  ranges.some(([from, to]) => point >= from && point <= to) !== isNegated

function closure(machine: Machine, states: readonly number[]): readonly number[] {
  const found = new Set(states)
  for (const state of found) for (const next of machine.free[state] ?? []) found.add(next)
  return [...found].sort((a, b) => a - b)
}

function classesOf(machine: Machine): readonly number[] {
  const points = new Set([0])
  for (const { ranges } of machine.steps.flat()) {
    for (const [from, to] of ranges) {
      points.add(from)
      if (to < lastPoint) points.add(to + 1)
    }
  }
  return [...points].sort((a, b) => a - b)
}

/** The common prefix of all matching words. */
export function startOf(regex: Regex): string {
  if (regex.is === 'text') return regex.text
  if (regex.is !== 'sequence') return ''
  const end = regex.of.findIndex(part => part.is !== 'text')
  return (end < 0 ? regex.of : regex.of.slice(0, end)).map(startOf).join('')
}
