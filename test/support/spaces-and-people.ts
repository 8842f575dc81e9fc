import { randomBytes } from 'node:crypto'
import { Users } from 'pounce/sdk'
import type { TestServer } from 'pounce/sdk/testing'
import { type Calls, callsOf, idOf } from './calls.ts'
import { newPerson, type Person } from './people.ts'

export type Somebody = Person & Calls

/** Creates a user with shorthands for calls. */
export const somebody = async (server: TestServer, name?: string): Promise<Somebody> => {
  const person = await newPerson(server, name)
  return { ...person, ...callsOf(person.call) }
}

/** Adds users to a space in one role; a server admin first makes them visible to the owner. */
export const letIn = async (owner: Calls, space: string, role: string, ...people: readonly Person[]): Promise<void> => {
  for (const { id, asAdmin } of people) {
    if ((await owner.get(`/api/users/${id}`)).status === 200) continue
    await asAdmin(`/api/spaces/${space}/members/${id}?superAdmin=true`, { method: 'PUT', json: { role } })
  }
  const rolesandusers = { [role]: people.map(person => person.id).join(',') }
  const { status, body } = await owner.post(`/api/spaces/${space}/updateUsers`, { rolesandusers })
  if (status !== 200) throw new Error(JSON.stringify(body))
}

/** Makes users visible to each other on a private server, without notifications: they become members of an otherwise unused space. */
export const meet = async (server: TestServer, ...people: readonly { readonly id: string }[]): Promise<void> => {
  const users = server.get(Users)
  const role = (await users.roles()).find(({ name }) => name === 'Viewer')?.id ?? ''
  const space = randomBytes(12).toString('hex')
  for (const { id } of people) await users.change(id, { addToSet: { memberships: [{ space, role }] } }, [])
}

/** Verifies a space as the server admin and makes it public. */
export const publish = async (server: TestServer, owner: Calls, space: string, access = 'PUBLIC'): Promise<void> => {
  await callsOf(server.as(server.admin.key)).put(`/api/spaces/${space}/verify`)
  const update = { name: 'public', description: '', timetolive: '24', enabled: false, access }
  const { status, body } = await owner.post(`/api/spaces/${space}/update`, update)
  if (status !== 200) throw new Error(JSON.stringify(body))
  await server.drained()
}

export const newSpace = (owner: Calls, name = 'a space'): Promise<string> => idOf(owner.post('/api/spaces', { name, description: '' }))

export const newCollection = (owner: Calls, more: object = {}): Promise<string> =>
  idOf(owner.post('/api/collections', { name: 'a collection', ...more }))

export const newDataset = (owner: Calls, more: object = {}): Promise<string> =>
  idOf(owner.post('/api/datasets/createempty', { name: 'a dataset', ...more }))

/** The plugins that store records, without search and extraction. */
export const recordPlugins = [
  'documents.sqlite',
  'blobs.disk',
  'access.policy',
  'auth.local',
  'resources.users',
  'resources.spaces',
  'resources.collections',
  'resources.datasets',
  'resources.folders',
  'resources.files',
  'resources.dataset-files',
  'resources.downloads',
  'resources.bags',
  'resources.metadata',
  'resources.tree',
]
