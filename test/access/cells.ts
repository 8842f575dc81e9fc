import { type CallerName, type Column, columns, type JobKeyCaller, jobKeys, type Outcast, outcasts, wrongCredentials } from './callers.ts'
import { isJobKey, jobLetter, refusalOfRequest, takesJobKeys } from './oracle/job-keys.ts'
import type { Letter, Mode } from './oracle/letters.ts'
import { type Need, needs, readNeeds } from './oracle/needs.ts'
import { isBlindToCallers, isOpenTo, standing } from './oracle/open-routes.ts'
import { looks } from './oracle/roles.ts'
import { isTrashed } from './oracle/trash.ts'
import { isAbsent, onNothing, onThing } from './oracle/verdicts.ts'
import { type MatrixRoute, suggestedNeeds } from './routes.ts'
import type { ThingKind } from './things.ts'
import { type State, states } from './world.ts'

/** A parameter that refers to a resource, and the kind of that resource. */
export interface Slot {
  readonly parameter: string
  readonly kind: ThingKind
}

/** The state of the resource of each slot, by parameter. */
export type Standing = Readonly<Record<string, State>>

/** The expectation of the oracle. */
export interface Expected {
  /** `y`: succeeds, `b`: either, otherwise refused. */
  readonly letter: 'y' | 'b' | 'refused'
  /** Letters of the unmet conditions. */
  readonly because: readonly Letter[]
  /** Slots whose resource is hidden, if that is the only reason for a refusal. */
  readonly unseen: readonly string[]
  /** Refused for one item of a batch: a success response is accepted if nothing is changed. */
  readonly isQuiet: boolean
  /** One of the resources is in the trash: a 409 then does not refer to the content of the request. */
  readonly isInTrash: boolean
}

export const needsOf = (route: MatrixRoute): string => needs[route.name] ?? suggestedNeeds(route)

export const slotsOf = (route: MatrixRoute): readonly Slot[] => {
  const all = readNeeds(needsOf(route)).flat()
  const found = new Map<string, Slot>()
  for (const { kind, parameter } of all)
    if (kind !== undefined && parameter !== undefined && !found.has(parameter)) found.set(parameter, { parameter, kind: kind as ThingKind })
  return [...found.values()]
}

/** States with several owners or datasets, which are combined with each other, and with own resources or those of the lab. */
const madeOfSeveral: ReadonlySet<State> = new Set(['trashedShared', 'halfTrashed', 'attached'])

const isPair = (one: State, other: State): boolean =>
  one === other || [one, other].some(each => each === 'own' || each === 'lab') || ![one, other].some(each => madeOfSeveral.has(each))

/** Combinations of states of a request's resources: all pairs for two slots; for more, each state with own resources or those of the lab. */
export const standingsOf = (slots: readonly Slot[]): readonly Standing[] => {
  const [first, second, ...more] = slots
  if (first === undefined) return [{}]
  if (second === undefined) return states.map(state => ({ [first.parameter]: state }))
  if (more.length === 0)
    return states.flatMap(one =>
      states.filter(other => isPair(one, other)).map(other => ({ [first.parameter]: one, [second.parameter]: other })),
    )
  const all = (state: State): Record<string, State> => Object.fromEntries(slots.map(({ parameter }) => [parameter, state]))
  const varied = slots.flatMap(({ parameter }) =>
    (['own', 'lab'] as const).flatMap(base => states.map(state => ({ ...all(base), [parameter]: state }))),
  )
  return [...new Map([...varied, ...states.map(all)].map(each => [JSON.stringify(each), each])).values()]
}

export const callerNames: readonly CallerName[] = [...columns, ...outcasts, ...wrongCredentials, ...jobKeys]

/** True for a route that only reads. */
export const isReading = ({ declaration: { method, effects } }: MatrixRoute): boolean => method === 'GET' && effects === undefined

const partLetter = (state: State, reference: State | undefined): Letter => (state === reference && !isAbsent(state) ? 'y' : 'x')

const letterOf = (
  mode: Mode,
  caller: Column | JobKeyCaller,
  { right, by, kind, parameter }: Need,
  at: Standing,
  first: string | undefined,
  route: MatrixRoute,
): Letter | undefined => {
  if (kind === undefined || parameter === undefined) return isJobKey(caller) ? 'y' : onNothing(mode, caller, right, isReading(route))
  const state = at[parameter]
  if (state === undefined) return undefined
  if (right === 'part') return partLetter(state, first === undefined ? undefined : at[first])
  if (isJobKey(caller)) return jobLetter(caller, right, kind, state)
  if (right === 'blind') return 'b'
  if (right === 'known') return isAbsent(state) ? 'x' : 'y'
  // A download is counted, but is still a read.
  const isLooking = by === 'reading' || isReading(route) || (route.declaration.method === 'GET' && looks(right))
  return onThing(mode, caller, right, by, { kind, state }, isLooking)
}

/** The best possible result; among refusals the most specific one. */
const rank = (letter: Letter | undefined): number => (letter === undefined ? 0 : ['f', 'b', 'y'].indexOf(letter) + 2)

const isOutcast = (caller: CallerName): caller is Outcast => outcasts.some(name => name === caller)

const isWrong = (caller: CallerName): caller is (typeof wrongCredentials)[number] => wrongCredentials.some(name => name === caller)

/** True for callers for whom the owner of a resource is irrelevant. */
export const isAlikeTo = (caller: CallerName): boolean => isOutcast(caller) || isWrong(caller)

/** The oracle's expectation for a request, or the reason why it has none. */
export const expectation = (mode: Mode, route: MatrixRoute, caller: CallerName, at: Standing): Expected | string => {
  const slots = slotsOf(route)
  const isInTrash = slots.some(({ kind, parameter }) => isTrashed({ kind, state: at[parameter] ?? '' }))
  const common = { unseen: [], isQuiet: false, isInTrash }
  if (isWrong(caller)) {
    // The same as for an anonymous caller, with 401 for refusals and absent resources.
    const expected = expectation(mode, route, 'anonymous', at)
    return typeof expected === 'string' || expected.letter !== 'refused' ? expected : { ...expected, because: ['a'], unseen: [] }
  }
  if (isOutcast(caller)) {
    if (isOpenTo(caller, route.name)) return { ...common, letter: 'b', because: [] }
    return { ...common, letter: 'refused', because: [standing[caller]] }
  }
  if (isJobKey(caller) && !takesJobKeys(route.name))
    return isBlindToCallers(route.name) ? { ...common, letter: 'b', because: [] } : { ...common, letter: 'refused', because: ['n'] }
  const [first] = slots
  const because: Letter[] = []
  const unseen: string[] = []
  let isQuiet = true
  let letter: Expected['letter'] = 'y'
  for (const group of readNeeds(needsOf(route))) {
    const letters = group.map(need => [need, letterOf(mode, caller, need, at, first?.parameter, route)] as const)
    const [best] = letters.toSorted(([, one], [, other]) => rank(other) - rank(one))
    if (best === undefined || best[1] === undefined) return `no place in the oracle for ${group.map(({ right }) => right).join(' | ')}`
    const [need, refusal] = best
    if (refusal === 'y') continue
    if (refusal === 'b') letter = 'b'
    else {
      because.push(refusal)
      if ((refusal === 'u' || refusal === 'v') && need.parameter !== undefined) unseen.push(need.parameter)
      isQuiet &&= need.isEach
    }
  }
  const other = isJobKey(caller) ? refusalOfRequest(route.name) : undefined
  if (other !== undefined && because.length === 0) return { ...common, letter: 'refused', because: [other] }
  if (because.length === 0) return { ...common, letter, because }
  const isAllUnseen = because.every(each => each === 'u' || each === 'v')
  return { letter: 'refused', because, unseen: isAllUnseen ? [...new Set(unseen)] : [], isQuiet, isInTrash }
}
