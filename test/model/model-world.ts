import assert from 'node:assert/strict'
import type { TestFetch, TestServer } from 'pounce/sdk/testing'
import { type AnyThing, exists, isOutOfSight, isPurging, type Person, people, type Rights } from './model-rights.ts'
import { State } from './model-state.ts'

/** What happens next, in numbers, so that a sequence from which others were left out still means something. */
export interface Step {
  readonly op: string
  readonly who: number
  readonly a: number
  readonly b: number
  readonly c: number
}

/** What a route requires before it does anything: a right on a resource, or someone who is signed in. */
export type Check = readonly [permission: string, thing: AnyThing] | 'signedIn'

/** The server, the model of what it holds, and those who call. */
export interface World {
  readonly server: TestServer
  readonly rights: Rights
  readonly state: State
  readonly calls: Readonly<Record<Person, TestFetch>>
  readonly ids: Readonly<Record<Person, string>>
  readonly admin: TestFetch
  /** Begins every name, so that it finds everything of this world and nothing of another. */
  readonly word: string
  /** The requests so far, for error messages. */
  readonly story: string[]
}

let worlds = 0

/** An empty world for people who are there already. */
export const emptyWorld = (
  server: TestServer,
  rights: Rights,
  people: Readonly<Record<Person, { readonly id: string; readonly call: TestFetch }>>,
): World => {
  worlds += 1
  const of = <T>(take: (person: Person) => T): Readonly<Record<Person, T>> => ({
    ann: take('ann'),
    bob: take('bob'),
    cyd: take('cyd'),
    nobody: take('nobody'),
  })
  return {
    server,
    rights,
    state: new State(),
    calls: of(name => people[name].call),
    ids: of(name => people[name].id),
    admin: server.as(server.admin.key),
    word: `world${worlds}w`,
    story: [],
  }
}

/** Who acts in a step: often anyone who made the resource that it is about, seldom no one. */
export const actorOf = ({ who }: Step, thing?: { readonly author: Person }): Person => {
  if (who % 12 === 0) return 'nobody'
  return thing !== undefined && who % 2 === 0 ? thing.author : (people[who % 3] as Person)
}

/** One of a list, mostly one that is still there; undefined when the list is empty. */
export const pick = <T extends { readonly isGone: boolean }>(list: readonly T[], number: number): T | undefined => {
  const there = list.filter(one => !one.isGone)
  const from = number % 8 === 0 || there.length === 0 ? list : there
  return from[Math.floor(number / 8) % from.length]
}

/** A name that nothing else has. */
export const newName = ({ word, story }: World): string => `${word} n${story.length}`

export interface Call {
  readonly method: string
  readonly path: string
  readonly json?: unknown
  readonly body?: FormData
  /** `frozen`: although the right is one to purge, the route does more. */
  readonly trash?: 'frozen'
}

const refusals = (world: World, who: Person, checks: readonly Check[], trash: Call['trash']): readonly number[] =>
  checks.flatMap(check => {
    if (check === 'signedIn') return who === 'nobody' ? [401] : []
    const [permission, thing] = check
    const isOpen = !isOutOfSight(thing) || (trash === undefined && isPurging(permission, thing))
    if (!isOpen && world.rights.isFrozen(who, permission, thing)) return [409]
    if (isOpen && world.rights.may(who, permission, thing)) return []
    // What is checked on a resource here belongs to routes that change something; only rights to view are named as such.
    return [world.rights.refusal(who, permission, thing, permission.startsWith('View'))]
  })

/**
 * Sends a request and holds its status against what the model says: one of the refusals when a check fails, else the status of the rule
 * that forbids it, else success. Resolves to the answer of a success, to undefined otherwise.
 */
export const attempt = async (
  world: World,
  who: Person,
  { method, path, json, body, trash }: Call,
  checks: readonly Check[],
  rule: () => number | undefined = () => undefined,
): Promise<Response | undefined> => {
  const expected = refusals(world, who, checks, trash)
  const answer = await world.calls[who](path, { method, ...(json === undefined ? {} : { json }), ...(body ? { body } : {}) })
  world.story.push(`${who} ${method} ${path} ${json === undefined ? '' : JSON.stringify(json)} → ${answer.status}`)
  const forbidden = expected.length > 0 ? expected : [rule() ?? 200]
  if (!forbidden.includes(answer.status))
    assert.fail(`expected ${forbidden.join(' or ')}, had ${answer.status}: ${(await answer.text()).slice(0, 500)}`)
  if (answer.status === 200) return answer
  await answer.body?.cancel()
  return undefined
}

/** The refusal of a right that a rule requires after the checks; undefined for one who has it. */
export const refused = ({ rights }: World, who: Person, permission: string, thing: AnyThing): number | undefined => {
  if (rights.isFrozen(who, permission, thing)) return 409
  return rights.may(who, permission, thing) ? undefined : rights.refusal(who, permission, thing, false)
}

/** Anyone who made a resource may take it out of what it is in; others need the right on that. */
export const takingOut = (world: World, who: Person, permission: string, container: AnyThing, thing: AnyThing): number | undefined =>
  who === thing.author && exists(thing) ? undefined : refused(world, who, permission, container)

/** The id in the answer to a request that made something. */
export const idIn = async (answer: Response): Promise<string> => ((await answer.json()) as { readonly id: string }).id
