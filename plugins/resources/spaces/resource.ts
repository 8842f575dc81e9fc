import { defineResource, eq, event, type Person } from 'pounce/sdk'
import { transferred } from 'pounce/sdk/kit'
import { SpaceLists } from './space-lists.ts'
import { type StoredSpace, spaces } from './stored-spaces.ts'

const handedOver = transferred(id => [event('space.updated', { kind: 'space', id }, { fields: ['author'] })])
const hasRequestOf = (requests: readonly { readonly user: string }[], { id }: Person): boolean => requests.some(({ user }) => user === id)

export const spaceResource = defineResource<StoredSpace>({
  kind: 'space',
  collection: spaces,
  view: 'ViewSpace',
  rights: ({ id, author, isPublic, state }) => ({ author, spaces: [id], isPublic, state }),
  follow: ({ name, state }) => (state === 'live' ? name : undefined),
  tree: { contents: SpaceLists, node: ({ name, author }) => ({ name, data: { authorId: author } }) },
  report: { where: [eq('state', 'live')] },
  personalData: {
    name: 'spaces',
    summary: 'Spaces that you created, and your requests to join others.',
    isOf: ({ author, requests }, person) => author === person.id || hasRequestOf(requests, person),
    show: ({ id, name, description, author, created, requests }, person) => ({
      id,
      ...(author === person.id ? { name, description, created } : {}),
      requests: requests.filter(({ user }) => user === person.id).map(({ at, message }) => ({ at, message })),
    }),
    erase: (record, erasure) => {
      const { person } = erasure
      const pulled = hasRequestOf(record.requests, person) ? { pull: { requests: [{ user: person.id }] } } : undefined
      const edit = handedOver(record, erasure)
      if (edit === undefined || edit === 'remove') return pulled
      return { ...edit, ...pulled }
    },
  },
})
