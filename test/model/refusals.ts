import assert from 'node:assert/strict'
import { type AnyThing, isOutOfSight, isPurging, type Kind, type Person, people } from './model-rights.ts'
import type { World } from './model-world.ts'

type Action = readonly [method: string, rest: string, permission: string, json?: unknown]

const actions: Readonly<Record<Kind, readonly Action[]>> = {
  space: [
    ['DELETE', '', 'DeleteSpace'],
    ['POST', '/update', 'EditSpace', { name: 'no', description: '', timetolive: '1', enabled: false }],
    ['POST', '/updateUsers', 'EditSpace', { rolesandusers: { Admin: '' } }],
  ],
  collection: [
    ['DELETE', '', 'DeleteCollection'],
    ['PUT', '/title', 'EditCollection', { name: 'no' }],
  ],
  dataset: [
    ['DELETE', '', 'DeleteDataset'],
    ['POST', '/detachdelete', 'DeleteDataset'],
    ['PUT', '/title', 'EditDataset', { name: 'no' }],
    ['PUT', '/access?access=PUBLIC', 'PublicDataset'],
    ['POST', '/tags', 'AddTag', { tags: ['no'] }],
    ['POST', '/tags/remove_all', 'DeleteTag'],
    ['POST', '/comment', 'AddComment', { text: 'no' }],
    ['GET', '/download', 'DownloadFiles'],
  ],
  file: [
    ['DELETE', '', 'DeleteFile'],
    ['PUT', '/filename', 'EditFile', { name: 'no' }],
    ['POST', '/tags', 'AddTag', { tags: ['no'] }],
    ['POST', '/tags/remove_all', 'DeleteTag'],
    ['POST', '/comment', 'AddComment', { text: 'no' }],
    ['GET', '', 'DownloadFiles'],
  ],
}

/** Expected statuses of a refusal; empty if the request would succeed. */
const refusing = ({ rights }: World, who: Person, thing: AnyThing, [method, rest, permission]: Action): readonly number[] => {
  const isOpen = method === 'GET' || !isOutOfSight(thing) || (isPurging(permission, thing) && rest === '')
  if (!isOpen && rights.isFrozen(who, permission, thing)) return [409]
  if (isOpen && rights.may(who, permission, thing)) return []
  // Whether a GET of a hidden resource is refused like a read depends on the route.
  return [false, ...(method === 'GET' ? [true] : [])].map(isReading => rights.refusal(who, permission, thing, isReading))
}

/** Sends all requests that the model refuses, and verifies that none of them has an effect. */
export const tryWhatIsRefused = async (world: World): Promise<void> => {
  const { spaces, collections, datasets, files } = world.state
  const things: readonly AnyThing[] = [...spaces, ...collections, ...datasets, ...files]
  const lines = people.flatMap(who =>
    things.flatMap(thing => actions[thing.kind].map(action => ({ who, thing, action, expected: refusing(world, who, thing, action) }))),
  )
  for (const { who, thing, action, expected } of lines) {
    if (expected.length === 0) continue
    const [method, rest, , json] = action
    const path = `/api/${thing.kind}s/${thing.id}${rest}`
    const answer = await world.calls[who](path, { method, ...(json === undefined ? {} : { json }) })
    await answer.body?.cancel()
    assert.ok(expected.includes(answer.status), `${who} ${method} ${path}: expected ${expected.join(' or ')}, had ${answer.status}`)
  }
}
