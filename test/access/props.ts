import { dataFile } from '../support/main-job.ts'
import { formWith, ok } from '../support/scene.ts'
import { accountOf, type CallerName } from './callers.ts'
import { nextWord } from './things.ts'
import { isFrozen, type World } from './world.ts'

type Maker = (world: World, caller: CallerName) => Promise<string> | string

const made = async (answer: Promise<Response>): Promise<string> => (await ok<{ id: string }>(answer)).id

/** The caller, or another user if the caller cannot create resources. */
const makerFor = (caller: CallerName): keyof World['people'] => {
  const account = accountOf[caller]
  return account === undefined || isFrozen(account) ? 'author' : account
}

/** Resources that requests refer to, other than those with a state: `@key`, `@job` … */
const makers: Readonly<Record<string, Maker>> = {
  mail: ({ people }) => people.stranger.email,
  password: ({ people }) => people.stranger.password,
  self: ({ people }, caller) => people[(accountOf[caller] ?? 'stranger') as keyof World['people']].id,
  person: ({ asSuperAdmin }) => {
    const json = { email: `${nextWord()}@example.org`, password: 'a long password', firstName: 'A', lastName: 'B' }
    return made(asSuperAdmin('/api/users', { method: 'POST', json }))
  },
  key: async ({ people }, caller) => {
    const account = accountOf[caller]
    if (account === undefined || (isFrozen(account) && account !== 'readOnly')) return 'nothing'
    const name = nextWord()
    await ok(people[account as keyof World['people']].call(`/api/users/keys?name=${name}`, { method: 'POST' }))
    return name
  },
  standard: ({ asSuperAdmin }) => made(asSuperAdmin('/api/standardvocab', { method: 'POST', json: ['a', 'b'] })),
  context: ({ people }, caller) =>
    made(people[makerFor(caller)].call('/api/contexts', { method: 'POST', json: { context_name: nextWord(), '@context': {} } })),
  contextName: async ({ asSuperAdmin }) => {
    const name = nextWord()
    await made(asSuperAdmin('/api/contexts', { method: 'POST', json: { context_name: name, '@context': {} } }))
    return name
  },
  group: ({ asSuperAdmin }) => made(asSuperAdmin('/api/groups', { method: 'POST', json: { name: nextWord() } })),
  role: ({ asSuperAdmin }) => made(asSuperAdmin('/api/roles', { method: 'POST', json: { name: nextWord(), permissions: ['ViewSpace'] } })),
  tile: async ({ people }, caller) => {
    const body = formWith(await dataFile('picture.png'), 'p.png', 'image/png')
    return made(people[makerFor(caller)].call('/api/tiles', { method: 'POST', body }))
  },
  extractor: () => nextWord(),
  label: ({ asSuperAdmin }) =>
    made(
      asSuperAdmin('/api/extractors/labels', { method: 'POST', json: { name: nextWord(), category: 'c', extractors: ['pounce.digest'] } }),
    ),
  link: async ({ people, standing }) => {
    const { link = '' } = await ok<{ link?: string }>(people.author.call(`/files/${standing['lab']?.file}/links`, { method: 'POST' }))
    return link.replace(/^.*\//, '')
  },
  job: async ({ people, standing }) => {
    const json = { extractor: 'pounce.digest' }
    const answer = people.author.call(`/api/files/${standing['lab']?.file}/extractions`, { method: 'POST', json })
    return (await ok<{ job_id: string }>(answer)).job_id
  },
}

export const isProp = (name: string): boolean => name in makers

/** Creates a new one. */
export const newProp = async (world: World, name: string, caller: CallerName): Promise<string> => {
  const maker = makers[name]
  if (!maker) throw new Error(`Nothing makes @${name}`)
  return maker(world, caller)
}
