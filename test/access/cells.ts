import { type CallerName, type Column, columns, outcasts } from './callers.ts'
import { type Need, needs, readNeeds } from './oracle/needs.ts'
import { isOpenTo } from './oracle/open-routes.ts'
import { rightOf } from './oracle/rights.ts'
import { isOutcast, type Letter, type Mode, onNothing, onThing, standing } from './oracle/verdicts.ts'
import { type MatrixRoute, suggestedNeeds } from './routes.ts'
import type { ThingKind } from './things.ts'
import { type State, states } from './world.ts'

/** A parameter that names a thing, and what kind of thing. */
export interface Slot {
  readonly parameter: string
  readonly kind: ThingKind
}

/** Where the thing of each slot stands, by parameter. */
export type Standing = Readonly<Record<string, State>>

/** What the oracle expects. */
export interface Expected {
  /** `y` done, `e` perhaps, `b` whatever, else refused. */
  readonly letter: 'y' | 'e' | 'b' | 'refused'
  /** Letters of the conditions that do not hold. */
  readonly because: readonly Letter[]
  /** Slots that are as if they were not there, when nothing else stands in the way. */
  readonly unseen: readonly string[]
  /** Refused for one of a batch: an answer of success will do as long as nothing is done. */
  readonly isQuiet: boolean
}

export const needsOf = (route: MatrixRoute): string => needs[route.name] ?? suggestedNeeds(route)

export const slotsOf = (route: MatrixRoute): readonly Slot[] => {
  const all = readNeeds(needsOf(route)).flat()
  const found = new Map<string, Slot>()
  for (const { kind, parameter } of all)
    if (kind !== undefined && parameter !== undefined && !found.has(parameter)) found.set(parameter, { parameter, kind: kind as ThingKind })
  return [...found.values()]
}

/** How the things of a request may stand: all pairs of two, and of more each by itself beside things that are one's own or the lab's. */
export const standingsOf = (slots: readonly Slot[]): readonly Standing[] => {
  const [first, second, ...more] = slots
  if (first === undefined) return [{}]
  if (second === undefined) return states.map(state => ({ [first.parameter]: state }))
  if (more.length === 0) return states.flatMap(one => states.map(other => ({ [first.parameter]: one, [second.parameter]: other })))
  const all = (state: State): Record<string, State> => Object.fromEntries(slots.map(({ parameter }) => [parameter, state]))
  const varied = slots.flatMap(({ parameter }) =>
    (['own', 'lab'] as const).flatMap(base => states.map(state => ({ ...all(base), [parameter]: state }))),
  )
  return [...new Map([...varied, ...states.map(all)].map(each => [JSON.stringify(each), each])).values()]
}

export const callerNames: readonly CallerName[] = [...columns, ...outcasts]

/** True of a route that only looks. */
export const isReading = ({ declaration: { method, effects } }: MatrixRoute): boolean => method === 'GET' && effects === undefined

const absent: ReadonlySet<string> = new Set(['deleted', 'unknown', 'other', 'malformed'])

const partLetter = (state: State, reference: State | undefined): Letter => (state === reference && !absent.has(state) ? 'y' : 'x')

const letterOf = (
  mode: Mode,
  caller: Column,
  need: Need,
  at: Standing,
  first: string | undefined,
  isReading: boolean,
): Letter | 'b' | undefined => {
  const { right: word, kind, parameter } = need
  const right = rightOf(word) ?? word
  if (parameter === undefined || kind === undefined) return onNothing(mode, caller, right === 'signedIn' && !isReading ? 'acting' : right)
  const state = at[parameter]
  if (state === undefined) return undefined
  if (right === 'blind') return 'b'
  if (right === 'known') return absent.has(state) ? 'x' : 'y'
  if (right === 'part') return partLetter(state, first === undefined ? undefined : at[first])
  return onThing(mode, caller, right, state, kind === 'mail' ? 'user' : kind)
}

const rank = (letter: Letter | 'b' | undefined): number =>
  letter === 'y' ? 3 : letter === 'e' || letter === 'b' ? 2 : letter === undefined ? 0 : 1

/** What the oracle says of a request; a text when it says nothing, with the reason. */
export const expectation = (mode: Mode, route: MatrixRoute, caller: CallerName, at: Standing): Expected | string => {
  if (isOutcast(caller)) {
    if (isOpenTo(caller, route.name)) return { letter: 'b', because: [], unseen: [], isQuiet: false }
    return { letter: 'refused', because: [standing[caller]], unseen: [], isQuiet: false }
  }
  const read = readNeeds(needsOf(route))
  const [first] = slotsOf(route)
  const because: Letter[] = []
  const unseen: string[] = []
  let isQuiet = true
  let letter: Expected['letter'] = 'y'
  for (const group of read) {
    const letters = group.map(need => [need, letterOf(mode, caller, need, at, first?.parameter, isReading(route))] as const)
    const [best] = letters.toSorted(([, one], [, other]) => rank(other) - rank(one))
    if (best === undefined || best[1] === undefined) return `no place in the oracle for ${group.map(({ right }) => right).join(' | ')}`
    const [need, said] = best
    if (said === 'y') continue
    if (said === 'e' || said === 'b') letter = letter === 'y' ? said : letter
    else {
      because.push(said)
      if ((said === 'u' || said === 'v') && need.parameter !== undefined) unseen.push(need.parameter)
      isQuiet &&= need.isEach
    }
  }
  if (because.length === 0) return { letter, because, unseen, isQuiet: false }
  return { letter: 'refused', because, unseen: because.every(each => each === 'u' || each === 'v') ? [...new Set(unseen)] : [], isQuiet }
}
