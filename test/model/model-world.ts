import assert from 'node:assert/strict'
import type { TestFetch, TestServer } from 'pounce/sdk/testing'
import { type AnyThing, exists, isOutOfSight, isPurging, type Person, people, type Rights } from './model-rights.ts'
import { State } from './model-state.ts'

/** A step encoded in numbers, so that a shrunk sequence is still meaningful. */
export interface Step {
  readonly op: string
  readonly who: number
  readonly a: number
  readonly b: number
  readonly c: number
}

/** A precondition of a route: a permission on a resource, or a signed-in user. */
export type Check = readonly [permission: string, thing: AnyThing] | 'signedIn'

/** The server, the model of its content, and the callers. */
export interface World {
  readonly server: TestServer
  readonly rights: Rights
  readonly state: State
  readonly calls: Readonly<Record<Person, TestFetch>>
  readonly ids: Readonly<Record<Person, string>>
  readonly admin: TestFetch
  /** The prefix of every name, so that a search for it finds exactly the resources of this world. */
  readonly word: string
  /** The requests so far, for failure messages. */
  readonly story: string[]
}

let worlds = 0

/** An empty world with existing users. */
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

/** The caller of a step: often the author of its resource, rarely an anonymous caller. */
export const actorOf = ({ who }: Step, thing?: { readonly author: Person }): Person => {
  if (who % 12 === 0) return 'nobody'
  return thing !== undefined && who % 2 === 0 ? thing.author : (people[who % 3] as Person)
}

/** An item of a list, usually one that still exists; undefined if the list is empty. */
export const pick = <T extends { readonly isGone: boolean }>(list: readonly T[], number: number): T | undefined => {
  const there = list.filter(one => !one.isGone)
  const from = number % 8 === 0 || there.length === 0 ? list : there
  return from[Math.floor(number / 8) % from.length]
}

/** A unique name. */
export const newName = ({ word, story }: World): string => `${word} n${story.length}`

export interface Call {
  readonly method: string
  readonly path: string
  readonly json?: unknown
  readonly body?: FormData
  /** `frozen`: the permission allows purging, but the route does more than that. */
  readonly trash?: 'frozen'
}

const refusals = (world: World, who: Person, checks: readonly Check[], trash: Call['trash']): readonly number[] =>
  checks.flatMap(check => {
    if (check === 'signedIn') return who === 'nobody' ? [401] : []
    const [permission, thing] = check
    const isOpen = !isOutOfSight(thing) || (trash === undefined && isPurging(permission, thing))
    if (!isOpen && world.rights.isFrozen(who, permission, thing)) return [409]
    if (isOpen && world.rights.may(who, permission, thing)) return []
    // These checks belong to routes that change something; only permissions to view are read checks.
    return [world.rights.refusal(who, permission, thing, permission.startsWith('View'))]
  })

/**
 * Sends a request and compares its status with the model: one of the refusals if a check fails, otherwise the status of the rule that forbids it,
 * otherwise success. Resolves to the response of a success, otherwise to undefined.
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

/** The refusal of a permission that a rule requires after the checks; undefined if the caller has it. */
export const refused = ({ rights }: World, who: Person, permission: string, thing: AnyThing): number | undefined => {
  if (rights.isFrozen(who, permission, thing)) return 409
  return rights.may(who, permission, thing) ? undefined : rights.refusal(who, permission, thing, false)
}

/** The author of a resource may remove it from its container; others need the permission on the container. */
export const takingOut = (world: World, who: Person, permission: string, container: AnyThing, thing: AnyThing): number | undefined =>
  who === thing.author && exists(thing) ? undefined : refused(world, who, permission, container)

/** The id in the response to a request that created a resource. */
export const idIn = async (answer: Response): Promise<string> => ((await answer.json()) as { readonly id: string }).id
